package feed

import (
	"context"
	"sync"
	"time"

	"netsim/infra/wait"
)

// nearly is how many records a feed may be behind when it joins the hub.
const nearly = 500

// catchUp reads the next batch of the history and sends what the feed wants of it. At
// the end of the history it joins the hub.
func (f *Feed) catchUp(ctx context.Context, deliver func(*Entry)) (err error) {
	h := f.hub
	i, rest := f.behind()
	if f.to == nil && rest <= nearly {
		if f.to, err = h.join(f); err != nil {
			return err
		}
		i, _ = f.behind()
	}
	if i < 0 {
		f.live = true
		signal(f.wake)
		return nil
	}
	at := f.parts[i]
	done, err := h.history.begin(ctx, f.quiet(), f.to != nil)
	if err != nil || done == nil {
		return err
	}
	read := 0
	defer func() { done(read) }()
	batch, err := h.History.Next(ctx, at.family, at.partition, f.offsets[i])
	if err != nil {
		return err
	}
	read = len(batch.Facts) + len(batch.Rejected)
	owners, err := h.owners.of(ctx, batch.Facts)
	if err != nil {
		return err
	}
	end := batch.To
	if f.to != nil {
		end = min(end, f.to[i])
	}
	topic := h.Log.Topic(at.family)
	for n := range batch.Facts {
		fact := &batch.Facts[n]
		if fact.Offset >= end {
			break
		}
		if f.query.wants(fact, owners[n]) {
			f.offsets[i] = fact.Offset + 1
			deliver(newEntry(fact, topic))
		}
	}
	f.offsets[i] = end
	return nil
}

// asked returns the reason for which the hub ends the feed, or "".
func (f *Feed) asked() Reason {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	return f.reason
}

// behind returns the next partition in turn whose history is not read, -1 for none, and
// how many records are to be read in all.
func (f *Feed) behind() (next int, rest int64) {
	next = -1
	for n := range f.parts {
		i := (f.turn + 1 + n) % len(f.parts)
		end := f.hub.Verdicts.Next(f.parts[i].family, f.parts[i].partition)
		if f.to != nil {
			end = f.to[i]
		}
		if gap := end - f.offsets[i]; gap > 0 {
			rest += gap
			if next < 0 {
				next = i
			}
		}
	}
	if next >= 0 {
		f.turn = next
	}
	return next, rest
}

// pacer bounds the reads of the history: how many there are at a time, and how many
// facts they read a second.
type pacer struct {
	slots chan struct{}
	rate  int
	now   func() time.Time

	mu   sync.Mutex
	free time.Time // when the facts that were read have used up their time
}

func newPacer(slots, rate int, now func() time.Time) *pacer {
	return &pacer{slots: make(chan struct{}, slots), rate: rate, now: now}
}

// begin waits for a turn, at most as long as is given, and returns nil without one. The
// caller calls done with the number of facts that it has read. A feed that has joined
// reads the rest without regard to the rate, because its queue fills meanwhile.
func (p *pacer) begin(ctx context.Context, most time.Duration, joined bool) (done func(facts int), err error) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case p.slots <- struct{}{}:
	case <-timer.C:
		return nil, nil //nolint:nilnil // no turn is no error
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	rest := p.free.Sub(p.now())
	p.mu.Unlock()
	if rest > 0 && !joined {
		if err := wait.For(ctx, min(rest, most)); err != nil || rest > most {
			<-p.slots
			return nil, err
		}
	}
	return func(facts int) {
		p.mu.Lock()
		now := p.now()
		if p.free.Before(now) {
			p.free = now
		}
		p.free = p.free.Add(time.Duration(facts) * time.Second / time.Duration(p.rate))
		p.mu.Unlock()
		<-p.slots
	}, nil
}
