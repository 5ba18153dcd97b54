package reactor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
)

// DeadLetter is a fact that a handler could not process. A fact that was published
// several times, after a crash, is one letter.
type DeadLetter struct {
	ID        string // handler:family/partition@offset
	Handler   string
	Family    events.Family
	Partition int32 // of the fact, as is its offset
	Offset    int64
	Stream    string
	Type      string
	EventID   string
	Reason    string
	Since     time.Time // when it became a dead letter

	partition int32 // in the dead-letter topic
}

// LetterID returns the id of the dead letter of a handler and a fact.
func LetterID(handler string, at events.Position) string {
	return fmt.Sprintf("%s:%s/%d@%d", handler, at.Family, at.Partition, at.Offset)
}

// at returns the position of the letter's fact.
func (l *DeadLetter) at() events.Position {
	return events.Position{Family: l.Family, Partition: l.Partition, Offset: l.Offset}
}

// settledHeader marks a record that settles the earlier letters of the same fact
// and handler. Its value is the time.
const settledHeader = "settled"

// DeadLetters reads the dead-letter topic. It is safe for concurrent use.
type DeadLetters struct {
	eventLog *eventlog.Kafka
	prefix   string

	mu   sync.Mutex
	next map[int32]int64 // the first offset that has not been read, by partition
	open map[string]DeadLetter
}

// NewDeadLetters returns the dead letters of the topics with the prefix. The event
// log's Config.Beside must name DeadLetterTopic.
func NewDeadLetters(j *eventlog.Kafka, prefix string) *DeadLetters {
	return &DeadLetters{eventLog: j, prefix: prefixOf(prefix), next: map[int32]int64{}, open: map[string]DeadLetter{}}
}

func (d *DeadLetters) topic() string { return DeadLetterTopic(d.prefix) }

// Open returns the letters that are not settled, by id. It reads the records that
// were added since the last call.
func (d *DeadLetters) Open(ctx context.Context) ([]DeadLetter, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	partitions, err := d.eventLog.PartitionsOf(ctx, d.topic())
	if err != nil {
		return nil, fmt.Errorf("read the dead letters: %w", err)
	}
	for partition := range int32(partitions) {
		if err := d.read(ctx, partition); err != nil {
			return nil, fmt.Errorf("read the dead letters: %w", err)
		}
	}
	return slices.SortedFunc(maps.Values(d.open), func(a, b DeadLetter) int { return cmp.Compare(a.ID, b.ID) }), nil
}

// read reads a partition up to its end.
func (d *DeadLetters) read(ctx context.Context, partition int32) error {
	for {
		records, end, err := d.eventLog.Read(ctx, d.topic(), partition, d.next[partition], 1<<20, 0)
		if err != nil {
			return err
		}
		for i := range records {
			d.add(partition, &records[i])
			d.next[partition] = records[i].Offset + 1
		}
		if len(records) == 0 || d.next[partition] >= end {
			return nil
		}
	}
}

// add applies a letter, or a record that settles one. It ignores others, which
// the reactor did not write.
func (d *DeadLetters) add(partition int32, r *events.Record) {
	m := messageOf(r)
	l := DeadLetter{
		Handler: handlerOf(m.Metadata.Get(middleware.PoisonedHandlerKey)),
		Family:  events.Family(strings.TrimPrefix(m.Metadata.Get(middleware.PoisonedTopicKey), d.prefix)),
		Stream:  m.Metadata.Get(streamHeader), Type: m.Metadata.Get(typeHeader), EventID: m.UUID,
		Reason:    m.Metadata.Get(middleware.ReasonForPoisonedKey),
		Since:     r.Time,
		partition: partition,
	}
	at, err := positionOf(m, l.Family)
	if err != nil || l.Handler == "" {
		return
	}
	l.Partition, l.Offset = at.Partition, at.Offset
	l.ID = LetterID(l.Handler, l.at())
	if m.Metadata.Get(settledHeader) != "" {
		delete(d.open, l.ID)
		return
	}
	d.open[l.ID] = l
}

func messageOf(r *events.Record) *message.Message {
	metadata := make(message.Metadata, len(r.Headers))
	for _, h := range r.Headers {
		metadata.Set(h.Key, string(h.Value))
	}
	m := message.NewMessage(metadata.Get(idHeader), slices.Clone(r.Value))
	m.Metadata = metadata
	return m
}

// Body returns the data of a letter's fact, as the log has it.
func (d *DeadLetters) Body(ctx context.Context, l DeadLetter) (string, error) {
	r, err := d.record(ctx, l)
	return string(r.Value), err
}

// record reads the record at the letter's position in the log. The letter itself
// is not trusted, because any client of the broker can write to its topic.
func (d *DeadLetters) record(ctx context.Context, l DeadLetter) (events.Record, error) {
	r, err := facts.At(ctx, d.eventLog, l.at())
	if err != nil {
		return r, fmt.Errorf("read the fact of dead letter %s: %w", l.ID, err)
	}
	return r, nil
}

// settle appends the record that settles the letter, whose fact is the message.
func (d *DeadLetters) settle(ctx context.Context, l DeadLetter, group string, m *message.Message) error {
	record := events.Message{Key: []byte(l.Stream)}
	add := func(name, value string) {
		record.Headers = append(record.Headers, events.Header{Key: name, Value: []byte(value)})
	}
	add(settledHeader, time.Now().UTC().Format(time.RFC3339Nano))
	add(middleware.PoisonedHandlerKey, group)
	add(middleware.PoisonedTopicKey, d.prefix+string(l.Family))
	for _, name := range []string{partitionHeader, offsetHeader, recordedHeader} {
		add(name, m.Metadata.Get(name))
	}
	if _, err := d.eventLog.Append(d.topic(), l.partition, record).Wait(ctx); err != nil {
		return fmt.Errorf("settle dead letter %s: %w", l.ID, err)
	}
	return nil
}

// retryTimeout bounds a retry, including the wait for a read model that does not
// have the fact yet.
const retryTimeout = time.Minute

// Retry passes the fact of a dead letter to its handler again, and settles the letter
// when the handler succeeds, or when the record turns out not to be a fact. Handlers
// are idempotent.
func (r *Reactor) Retry(ctx context.Context, d *DeadLetters, l DeadLetter) error {
	i := slices.IndexFunc(r.handlers, func(h handler) bool { return h.name == l.Handler && h.family == l.Family })
	if i < 0 {
		return fmt.Errorf("dead letter %s: this release has no handler %s of %s", l.ID, l.Handler, l.Family)
	}
	record, err := d.record(ctx, l)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, retryTimeout)
	defer cancel()
	verdict, err := r.config.Judge.Verdict(limited, l.at())
	if err != nil {
		return fmt.Errorf("dead letter %s: %w", l.ID, err)
	}
	f := facts.Decode(l.Family, &record)
	m := messageFor(&f)
	if verdict != events.Accepted {
		r.observe(r.handlers[i], outcomeNoFact, 0)
	} else {
		m.SetContext(context.WithValue(limited, factKey{}, &f))
		if err := r.process(m, r.handlers[i]); err != nil {
			return fmt.Errorf("dead letter %s: %w", l.ID, err)
		}
	}
	return d.settle(ctx, l, r.Group(l.Handler, l.Family), m)
}

// process calls the handler once with the message's fact. A panic becomes an error.
func (r *Reactor) process(m *message.Message, h handler) error {
	once := middleware.Recoverer(func(m *message.Message) ([]*message.Message, error) { return nil, r.react(m, h) })
	_, err := once(m)
	return err
}
