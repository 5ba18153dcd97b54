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

// item is a record made ready to be judged.
type item struct {
	record  events.Record
	frame   events.Frame
	hash    events.Hash
	sealer  string      // as events.WriterKeys.Sealer says
	bad     error       // the frame cannot be read
	data    events.Data // nil when unread is not
	unread  error       // the body cannot be read
	poison  string      // why its rows were refused, when it is tried again
	verdict events.Verdict
}

// chunk is what one read of one partition brought.
type chunk struct {
	at    *place
	items []item
}

const (
	readBytes = 4 << 20
	readWait  = 5 * time.Second
)

// fetch reads one partition from its place on and decodes what it brings, so
// that decoding runs beside the transaction before.
func (p *Projector) fetch(ctx context.Context, at *place, from int64, out chan<- chunk) error {
	until, bounded := p.until[partitionKey{at.family, at.partition}]
	for !bounded || from < until {
		records, high, err := p.Log.Read(ctx, at.topic, at.partition, from, readBytes, readWait)
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
	if it.frame, it.hash, it.bad = events.ReadFrame(&it.record.Message); it.bad != nil {
		return
	}
	it.sealer = c.Keys.Sealer(family, it.hash, &it.record.Message)
	it.data, it.unread = c.Decode(it.frame.Type, r.Value)
}

// demandsSeals reports whether the record is one that only a projector with
// keys can judge.
func (it *item) demandsSeals() bool {
	_, sealed := it.data.(events.LogSealed)
	return sealed
}

func keyless(at *place) error {
	return fmt.Errorf("%w: partition %d of %s takes only sealed records, and NETSIM_WRITER_KEYS has no key to verify them with",
		ErrOtherLog, at.partition, at.topic)
}

// project runs one session: from the stored places on until something fails.
func (p *Projector) project(ctx context.Context) error {
	p.forget()
	places, err := p.places(ctx)
	if err != nil {
		return err
	}
	p.counts = countPartitions(places)
	if err := p.retry(ctx, places); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	chunks := make(chan chunk, len(places))
	for _, at := range places {
		p.stats.begin(at)
		from := at.next
		group.Go(func() error { return p.fetch(ctx, at, from, chunks) })
	}
	group.Go(func() error { return p.watch(ctx, places) })
	group.Go(func() error { return p.consume(ctx, chunks) })
	err = group.Wait()
	if isOutOfRange(err) || errors.Is(err, eventlog.ErrNoTopic) {
		// The reads noticed first; the places say what happened.
		if _, why := p.places(context.WithoutCancel(ctx)); why != nil {
			return why
		}
	}
	return err
}

func isOutOfRange(err error) bool { return errors.Is(err, eventlog.ErrOutOfRange) }

// consume gathers what is there and applies it, batch after batch.
func (p *Projector) consume(ctx context.Context, chunks <-chan chunk) error {
	for {
		batch, err := p.gather(ctx, chunks)
		if err != nil {
			return err
		}
		if err := p.apply(ctx, batch); err != nil {
			return err
		}
	}
}

// A projector that finds more work when it comes back from a transaction is
// under load. It then waits a moment for company: a transaction of a few
// records costs nearly as much as one of hundreds, and what it saves is what
// the load is short of. A lone write never waits.
const (
	linger    = 2 * time.Millisecond
	fewEnough = 256 // records that are worth waiting with
)

// gather waits for one chunk and takes the others that are there, up to a
// batch.
func (p *Projector) gather(ctx context.Context, chunks <-chan chunk) ([]chunk, error) {
	var batch []chunk
	count := 0
	add := func(c chunk) {
		batch = append(batch, c)
		count += len(c.items)
	}
	var company <-chan time.Time
	select {
	case c := <-chunks:
		add(c)
		company = time.After(linger)
	default:
		select {
		case c := <-chunks:
			add(c)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for count < p.BatchSize {
		select {
		case c := <-chunks:
			add(c)
			continue
		default:
		}
		if company == nil || count >= fewEnough {
			return batch, nil
		}
		select {
		case c := <-chunks:
			add(c)
		case <-company:
			return batch, nil
		case <-ctx.Done():
			return nil, ctx.Err()
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
