package feed

import (
	"context"
	"time"

	"netsim/infra/facts"
	"netsim/infra/wait"
)

// retryAfter is how long a follower waits after an error.
const retryAfter = time.Second

// follower reads a partition for all feeds.
type follower struct {
	hub   *Hub
	at    part
	stop  context.CancelFunc
	next  int64                     // the first offset that is not published; guarded by the hub
	feeds map[string]map[*Feed]bool // by the account of their query
}

// followLocked starts a follower of a partition at the end of what is judged.
func (h *Hub) followLocked(at part) *follower {
	ctx, stop := context.WithCancel(h.running)
	one := &follower{hub: h, at: at, stop: stop, next: h.Verdicts.Next(at.family, at.partition), feeds: map[string]map[*Feed]bool{}}
	h.followers[at] = one
	h.stopped.Add(1)
	go func() {
		defer h.stopped.Done()
		one.run(ctx, one.next)
	}()
	return one
}

func (o *follower) addLocked(f *Feed) {
	account := f.query.Account
	if o.feeds[account] == nil {
		o.feeds[account] = map[*Feed]bool{}
	}
	o.feeds[account][f] = true
}

// removeLocked removes a feed and reports whether none is left.
func (o *follower) removeLocked(f *Feed) bool {
	account := f.query.Account
	delete(o.feeds[account], f)
	if len(o.feeds[account]) == 0 {
		delete(o.feeds, account)
	}
	return len(o.feeds) == 0
}

func (o *follower) run(ctx context.Context, from int64) {
	for failing := false; ; {
		batch, owners, err := o.read(ctx, from)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			o.hub.failed.Add(1)
			if !failing {
				o.hub.Logger.WarnContext(ctx, "the feed cannot read a partition; it tries again every second",
					"family", o.at.family, "partition", o.at.partition, "error", err)
			}
			failing = true
			if wait.For(ctx, retryAfter) != nil {
				return
			}
			continue
		}
		failing = false
		o.publish(&batch, owners)
		from = batch.To
	}
}

// read waits for the next batch and finds the owners of its facts.
func (o *follower) read(ctx context.Context, from int64) (facts.Batch, []Owner, error) {
	batch, err := o.hub.Live.Next(ctx, o.at.family, o.at.partition, from)
	if err != nil {
		return batch, nil, err
	}
	owners, err := o.hub.owners.of(ctx, batch.Facts)
	return batch, owners, err
}

// publish appends the facts of a batch to the queues of the feeds that want them.
func (o *follower) publish(batch *facts.Batch, owners []Owner) {
	topic := o.hub.Log.Topic(o.at.family)
	o.hub.mu.Lock()
	defer o.hub.mu.Unlock()
	for i := range batch.Facts {
		fact := &batch.Facts[i]
		var entry *Entry
		offer := func(feeds map[*Feed]bool) {
			for f := range feeds {
				if !f.query.wants(fact, owners[i]) {
					continue
				}
				if entry == nil {
					entry = newEntry(fact, topic)
				}
				f.pushLocked(entry)
			}
		}
		if owners[i].AccountID == "" {
			for _, feeds := range o.feeds {
				offer(feeds)
			}
			continue
		}
		offer(o.feeds[owners[i].AccountID])
		offer(o.feeds[""])
	}
	o.next = batch.To
}
