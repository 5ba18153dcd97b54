package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"netsim/events"
)

// Reader reads the records of a partition from an offset, as infra/eventlog does.
// It returns about maxBytes, at least one batch. It returns no records only if none
// arrived within the wait.
type Reader interface {
	Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error)
}

// Log is the log to audit, up to its ends when the audit began.
type Log struct {
	Reader
	Cluster string
	Topics  []Topic
	Keys    *events.WriterKeys // nil accepts seals without verifying them
	// ReadBytes is about how much is read at a time, and held, of each partition; 0 is 4 MiB.
	ReadBytes int
}

// Topic is a family's topic.
type Topic struct {
	Family events.Family
	Name   string
	ID     string
	Ends   []int64 // by partition: the first offset that is not read
}

const (
	readBytes = 4 << 20
	readWait  = time.Second
)

// Where is the position of a record.
type Where struct {
	Topic     string
	Partition int32
	Offset    int64
	Stream    string // "" when it is not known
}

func (w Where) String() string {
	at := fmt.Sprintf("%s/%d offset %d", w.Topic, w.Partition, w.Offset)
	if w.Stream != "" {
		at += ", stream " + w.Stream
	}
	return at
}

// Fact is a record that the rule accepted, with its position.
type Fact struct {
	events.Frame
	Hash       events.Hash
	Value      []byte
	Message    *events.Message
	Where      Where
	RecordedAt time.Time
}

// partition is a partition that is judged up to the offset next.
type partition struct {
	topic    *Topic
	number   int32
	reader   Reader
	atOnce   int // bytes of a read
	keys     *events.WriterKeys
	sealing  events.Sealing
	next     int64
	facts    int64
	rejected int64
	digest   events.Digest // not computed if undigested is set
	heads    map[string]*events.Head
	verdicts map[events.Verdict]int64
	bytes    int64
	// unreadable counts, by type, the facts that this release cannot apply: those
	// of an unknown type and those whose body is not JSON.
	unreadable map[string]int64
	// missing has, by stream, the first record whose predecessor is missing. A
	// fact with its sequence or a later one removes it.
	missing map[string]orphan
	unread  []events.Record

	undigested bool
	// unsure is set once a reader without keys cannot know what the partition demands of
	// seals.
	unsure bool
}

// orphan is a record whose predecessor is missing.
type orphan struct {
	at       Where
	sequence int64
	verdict  events.Verdict
}

// open returns the partitions of the given families, or of all, at offset 0.
func (l *Log) open(families ...events.Family) []*partition {
	var all []*partition
	for i := range l.Topics {
		t := &l.Topics[i]
		wanted := len(families) == 0
		for _, f := range families {
			wanted = wanted || f == t.Family
		}
		for number := range t.Ends {
			if wanted {
				all = append(all, &partition{
					topic: t, number: int32(number), reader: l.Reader, atOnce: cmp.Or(l.ReadBytes, readBytes), keys: l.Keys,
					heads: map[string]*events.Head{}, verdicts: map[events.Verdict]int64{}, unreadable: map[string]int64{}, missing: map[string]orphan{},
				})
			}
		}
	}
	return all
}

// errShort is wrapped by the error for a log that ends before an offset.
var errShort = errors.New("the log ends before")

// advance judges the records before an offset and calls each with every fact.
func (p *partition) advance(ctx context.Context, to int64, each func(*Fact) error) error {
	var f Fact
	for p.next < to {
		if len(p.unread) == 0 {
			if err := p.read(ctx, to); err != nil {
				return err
			}
		}
		for len(p.unread) > 0 && p.next < to {
			r := &p.unread[0]
			p.unread = p.unread[1:]
			if r.Offset != p.next {
				return fmt.Errorf("%s/%d has no record at offset %d: the next is %d", p.topic.Name, p.number, p.next, r.Offset)
			}
			p.next++
			p.bytes += int64(len(r.Value))
			if p.judge(r, &f) != events.Accepted || each == nil {
				continue
			}
			if err := each(&f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *partition) read(ctx context.Context, to int64) error {
	records, _, err := p.reader.Read(ctx, p.topic.Name, p.number, p.next, p.atOnce, readWait)
	if err != nil {
		return fmt.Errorf("read %s/%d at offset %d: %w", p.topic.Name, p.number, p.next, err)
	}
	if len(records) == 0 {
		return fmt.Errorf("%s/%d: %w offset %d, at %d", p.topic.Name, p.number, errShort, to, p.next)
	}
	p.unread = records
	return nil
}

// judge returns a record's verdict. For a fact it also advances the stream's head
// and fills in f.
func (p *partition) judge(r *events.Record, f *Fact) events.Verdict {
	frame, hash, err := events.ReadFrame(&r.Message)
	if err != nil {
		return p.reject(events.BadFrame)
	}
	head := p.heads[frame.Stream]
	if head == nil {
		head = &events.Head{}
	}
	sealer := p.keys.Sealer(p.topic.Family, hash, &r.Message)
	verdict := events.Judge(*head, &frame, hash, p.sealing.Admits(&frame, sealer), p.number, int32(len(p.topic.Ends)))
	if verdict != events.Accepted {
		if verdict == events.Gap || verdict == events.Broken {
			if _, known := p.missing[frame.Stream]; !known {
				p.missing[frame.Stream] = orphan{p.where(r, frame.Stream), frame.Sequence, verdict}
			}
		}
		return p.reject(verdict)
	}
	if head.Sequence == 0 {
		p.heads[frame.Stream] = head
	}
	*head = events.Head{Sequence: frame.Sequence, Hash: hash}
	p.sealing = p.sealing.After(&frame, sealer)
	p.unsure = p.unsure || sealer == events.Unchecked && frame.Type == (events.LogSealed{}).EventType()
	if len(p.missing) > 0 {
		if o, known := p.missing[frame.Stream]; known && frame.Sequence >= o.sequence {
			delete(p.missing, frame.Stream)
		}
	}
	p.facts++
	if !events.Known(frame.Type) || !json.Valid(r.Value) {
		p.unreadable[frame.Type]++
	}
	if !p.undigested {
		p.digest = p.digest.Add(hash)
	}
	*f = Fact{Frame: frame, Hash: hash, Value: r.Value, Message: &r.Message, Where: p.where(r, frame.Stream), RecordedAt: r.Time}
	return verdict
}

func (p *partition) reject(v events.Verdict) events.Verdict {
	p.rejected++
	p.verdicts[v]++
	return v
}

func (p *partition) where(r *events.Record, stream string) Where {
	return Where{p.topic.Name, p.number, r.Offset, stream}
}

// chains returns the chains of some partitions.
func chains(parts []*partition) (all []Chain) {
	for _, p := range parts {
		for stream, head := range p.heads {
			all = append(all, Chain{stream, p.number, *head})
		}
	}
	return all
}
