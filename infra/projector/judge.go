package projector

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/recent"
)

// cachedStreams bounds the streams in a generation of the cache.
const cachedStreams = 10_000

// streamKey identifies a stream as the rule does: within its partition.
type streamKey struct {
	family    events.Family
	partition int32
	stream    string
}

// stream is the state of a stream after the batches so far.
type stream struct {
	key     streamKey
	head    events.Head
	stored  []byte // the stored state, decoded into state when a fact needs it
	state   State
	parked  bool
	touched bool // by this batch
	begins  bool // this batch seems to begin it, by its first record; it was not looked up
	size    int  // bytes of the id and the encoded state, once written
}

// streamCache keeps the streams of a batch at least until the end of the next one,
// whose streams can be loaded before this one is committed.
type streamCache struct {
	recent.Cache[streamKey, *stream]
}

// load finds the stream of every record in the batch, and queues the read of those
// that are not cached. Unless all are asked for, a stream whose first record in the
// batch has sequence 1 is taken to begin with it; when it exists, writing it fails.
// It returns the size of the streams that it dropped from the cache.
func (c *streamCache) load(reads *pgx.Batch, table string, batch []chunk, all bool) (freed int) {
	for _, dropped := range c.Turn(cachedStreams) {
		freed += dropped.size
	}
	missing := map[streamKey]*stream{}
	var ids []string
	for _, part := range batch {
		for i := range part.items {
			it := &part.items[i]
			if it.badFrame != nil {
				continue
			}
			key := streamKey{part.at.family, part.at.partition, it.frame.Stream}
			if s, cached := c.Get(key); cached {
				it.stream = s
				continue
			}
			it.stream = &stream{key: key, begins: it.frame.Sequence == 1 && !all}
			c.Put(key, it.stream)
			if !it.stream.begins {
				missing[key] = it.stream
				ids = append(ids, key.stream)
			}
		}
	}
	if len(ids) == 0 {
		return freed
	}
	reads.Queue(fmt.Sprintf(
		`SELECT family, partition, stream, sequence, hash, state, parked FROM %s WHERE stream = ANY($1)`, table), ids).
		Query(func(rows pgx.Rows) error {
			var found stream
			var hash []byte
			_, err := pgx.ForEachRow(rows, []any{
				&found.key.family, &found.key.partition, &found.key.stream, &found.head.Sequence, &hash, &found.stored, &found.parked,
			}, func() error {
				copy(found.head.Hash[:], hash)
				if s := missing[found.key]; s != nil {
					*s = found
				}
				found = stream{}
				return nil
			})
			return err
		})
	return freed
}

// judge gives every record its verdict, moves the heads and folds the states.
// It returns the facts that can be projected, the streams that changed, and the
// positions of the partitions after the batch. The error is errGuessed when a record
// is rejected because its stream has no head, and the stream was not looked up.
func (p *Projector) judge(batch []chunk) (facts []events.Fact, touched []*stream, next map[*partitionState]position, err error) {
	next = map[*partitionState]position{}
	facts = make([]events.Fact, 0, countRecords(batch))
	for _, part := range batch {
		to, seen := next[part.at]
		if !seen {
			to = part.at.position
		}
		for i := range part.items {
			it := &part.items[i]
			it.parkReason = it.refused // not that of an earlier judgement
			if it.badFrame != nil {
				it.verdict = events.BadFrame
				continue
			}
			s := it.stream
			it.verdict = events.Judge(s.head, &it.frame, it.hash, to.sealing.Admits(&it.frame, it.sealer), part.at.partition, p.counts[part.at.family])
			if it.verdict != events.Accepted {
				if s.begins && s.head.Sequence == 0 {
					return nil, nil, nil, errGuessed
				}
				continue
			}
			to.accept(it)
			s.head = events.Head{Sequence: it.frame.Sequence, Hash: it.hash}
			if !s.touched {
				s.touched, touched = true, append(touched, s)
			}
			event := events.Event{Frame: it.frame, Hash: it.hash, Data: it.data}
			if !p.fold(s, it, event) {
				continue
			}
			facts = append(facts, factOf(part.at, it, event))
		}
		last := &part.items[len(part.items)-1].record
		sum := events.SumOf(last)
		to.next, to.lastRecord = last.Offset+1, sum[:]
		next[part.at] = to
	}
	return facts, touched, next, nil
}

// accept adds a fact to the position.
func (to *position) accept(it *item) {
	to.facts++
	to.digest = to.digest.Add(it.hash)
	to.sealing = to.sealing.After(&it.frame, it.sealer)
}

// warnOfForged logs forged records, which show that a writer without a key
// reaches the log: one line a batch, about the first record.
func (p *Projector) warnOfForged(ctx context.Context, batch []chunk) {
	count := 0
	var first *item
	var at *partitionState
	for _, part := range batch {
		for i := range part.items {
			if it := &part.items[i]; it.verdict == events.Forged {
				if count++; count == 1 {
					first, at = it, part.at
				}
			}
		}
	}
	if count > 0 {
		p.Logger.WarnContext(ctx, "records in the log are forged", "count", count, "topic", at.topic,
			"partition", at.partition, "offset", first.record.Offset, "stream", first.frame.Stream, "type", first.frame.Type)
	}
}

func factOf(at *partitionState, it *item, event events.Event) events.Fact {
	return events.Fact{
		Event: event, Family: at.family, Partition: at.partition,
		Offset: it.record.Offset, RecordedAt: it.record.Time,
	}
}

// behindParked is why a fact is parked that could itself be applied.
const behindParked = "an earlier event of the stream is parked"

// fold applies the event to the stream's state. When it cannot, it parks the
// stream and reports false.
func (p *Projector) fold(s *stream, it *item, event events.Event) bool {
	if s.parked {
		it.parkReason = behindParked
		return false
	}
	if it.parkReason == "" && it.decodeErr != nil {
		it.parkReason = it.decodeErr.Error()
	}
	if it.parkReason == "" {
		it.parkReason = p.evolve(s, event)
	}
	s.parked = it.parkReason != ""
	return !s.parked
}

// evolve folds the event into the state. It returns why that failed, or "".
func (p *Projector) evolve(s *stream, event events.Event) (reason string) {
	defer func() {
		if r := recover(); r != nil {
			reason = fmt.Sprint("fold panicked: ", r)
		}
	}()
	if s.state == nil {
		state, err := p.ReadState(event.Stream, s.stored)
		if err != nil {
			return err.Error()
		}
		s.state = state
	}
	s.state.Evolve(event)
	return ""
}

// encode returns the state as it is stored, nil when there is none.
func (s *stream) encode() (*string, error) {
	if s.state == nil {
		if s.stored == nil {
			return nil, nil
		}
		text := string(s.stored)
		return &text, nil
	}
	stored, err := json.Marshal(s.state)
	text := string(stored)
	return &text, err
}

// countPartitions returns how many partitions each family has.
func countPartitions(partitions []*partitionState) map[events.Family]int32 {
	counts := map[events.Family]int32{}
	for _, at := range partitions {
		counts[at.family]++
	}
	return counts
}
