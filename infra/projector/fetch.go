package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/eventlog"
)

// item is a decoded record and its verdict.
type item struct {
	record     events.Record
	frame      events.Frame
	hash       events.Hash
	sealer     string      // the key that sealed it, as events.WriterKeys.Sealer returns it
	badFrame   error       // the frame cannot be read
	data       events.Data // nil when the frame or the body cannot be read
	decodeErr  error       // the body cannot be read
	refused    string      // why the projections refused the event; "" when they did not
	parkReason string      // why the event cannot be applied, as of when it was last judged; "" when it can
	verdict    events.Verdict
	stream     *stream // nil when the frame cannot be read
}

// chunk is what one read of one partition returned, or a part of it.
type chunk struct {
	at    *partitionState
	items []item
}

const (
	readBytes = 4 << 20
	readWait  = 5 * time.Second
)

// fetch reads one partition from an offset on and decodes its records, while other
// batches are applied.
func (p *Projector) fetch(ctx context.Context, at *partitionState, from int64, out chan<- chunk) error {
	until, bounded := p.until[partitionKey{at.family, at.partition}]
	for !bounded || from < until {
		records, high, err := p.Log.Follow(ctx, at.topic, at.partition, from, readBytes, readWait)
		if err != nil {
			return fmt.Errorf("read %s/%d at %d: %w", at.topic, at.partition, from, err)
		}
		p.stats.saw(at, high)
		if len(records) == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		for bounded && len(records) > 0 && records[len(records)-1].Offset >= until {
			records = records[:len(records)-1]
		}
		if len(records) == 0 {
			return nil
		}
		from = records[len(records)-1].Offset + 1
		items := make([]item, len(records))
		for i := range records {
			items[i].read(at.family, records[i], p.Config)
			if p.Keys == nil && items[i].demandsSeals() {
				return keyless(at)
			}
		}
		for len(items) > 0 {
			n := min(len(items), p.BatchSize)
			select {
			case out <- chunk{at, items[:n]}:
				items = items[n:]
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

func (it *item) read(family events.Family, r events.Record, c Config) {
	it.record = r
	if it.frame, it.hash, it.badFrame = events.ReadFrame(&it.record.Message); it.badFrame != nil {
		return
	}
	it.sealer = c.Keys.Sealer(family, it.hash, &it.record.Message)
	it.data, it.decodeErr = c.Decode(it.frame.Type, r.Value)
}

// demandsSeals reports whether the record is one that only a projector with
// keys can judge.
func (it *item) demandsSeals() bool {
	_, sealed := it.data.(events.LogSealed)
	return sealed
}

func keyless(at *partitionState) error {
	return fmt.Errorf("%w: partition %d of %s takes only sealed records, and NETSIM_WRITER_KEYS has no key to verify them with",
		ErrOtherLog, at.partition, at.topic)
}

// project runs one session: from the stored offsets on, until ctx ends or something
// fails.
func (p *Projector) project(ctx context.Context) error {
	p.forget()
	p.raised = 0
	all, err := p.partitions(ctx)
	if err != nil {
		return err
	}
	partitions := p.leased(all)
	p.counts = countPartitions(all)
	p.stats.reset()
	if err := p.retry(ctx, partitions); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	chunks := make(chan chunk, len(partitions))
	for _, at := range partitions {
		p.stats.begin(at)
		from := at.next
		group.Go(func() error { return p.fetch(ctx, at, from, chunks) })
	}
	group.Go(func() error { return p.watch(ctx, all, partitions) })
	group.Go(func() error { return p.consume(ctx, chunks) })
	err = group.Wait()
	if isOutOfRange(err) || errors.Is(err, eventlog.ErrNoTopic) {
		// The comparison with the log has the better error.
		if _, why := p.partitions(context.WithoutCancel(ctx)); why != nil {
			return why
		}
	}
	return err
}

func isOutOfRange(err error) bool { return errors.Is(err, eventlog.ErrOutOfRange) }

// consume applies batch after batch. A large batch that arrives while the previous one
// is committed is prepared beside the commit. A smaller one waits for the commit and
// grows by what arrives meanwhile, because one larger batch costs less than two.
func (p *Projector) consume(ctx context.Context, chunks <-chan chunk) error {
	var batch []chunk
	var ready *prepared // the batch, when it was prepared beside a commit
	var err error
	for {
		if ready == nil {
			if batch, err = p.gather(ctx, chunks, batch); err != nil {
				return err
			}
			if ready, err = p.prepare(ctx, batch, false); err != nil {
				if err := p.applyAgain(ctx, batch, err); err != nil {
					return err
				}
				batch = nil
				continue
			}
		}
		now, committed := ready, make(chan error, 1)
		go func() { committed <- p.commit(ctx, now) }()
		if batch, ready, err = p.prepareBeside(ctx, chunks, committed); err == nil {
			continue
		}
		if ready != nil {
			p.undo(ready)
			ready = nil
		}
		p.undo(now)
		if err := p.applyAgain(ctx, now.batch, err); err != nil {
			return err
		}
	}
}

// prepareBeside waits for a commit, and returns its error and what has arrived by
// then. If that is half a batch or more, it is prepared, unless that fails.
func (p *Projector) prepareBeside(ctx context.Context, chunks <-chan chunk, committed <-chan error) (batch []chunk, ready *prepared, err error) {
	for len(batch) == 0 || countRecords(batch) < p.BatchSize/2 {
		select {
		case c := <-chunks:
			batch = append(batch, c)
		case err := <-committed:
			return batch, nil, err
		}
	}
	if batch, err = p.gather(ctx, chunks, batch); err == nil {
		ready, _ = p.prepare(ctx, batch, false) // when this fails, consume prepares it after the commit
	}
	return batch, ready, <-committed
}

// gather waits for one chunk unless the batch has one, and adds those that are
// ready, up to a full batch. So a batch has what arrived while the previous one was
// committed, and no timer delays a lone record.
func (p *Projector) gather(ctx context.Context, chunks <-chan chunk, batch []chunk) ([]chunk, error) {
	if len(batch) == 0 {
		select {
		case c := <-chunks:
			batch = append(batch, c)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for countRecords(batch) < p.BatchSize {
		select {
		case c := <-chunks:
			batch = append(batch, c)
		default:
			return batch, nil
		}
	}
	return batch, nil
}

func (p *Projector) forget() {
	p.streams, p.cached = streamCache{}, 0
	for _, projection := range p.Projections {
		projection.Forget()
	}
}
