package reactor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/wait"
)

// session is the work on the shards that a process holds, for as long as it holds
// the same ones.
type session struct {
	*Reactor
	windows map[*feed][]*window
	moved   chan struct{}        // receives a value when a position may have changed
	hurry   chan struct{}        // receives a value when a position has to be committed at once
	said    map[*window]position // what was committed last
	failing map[*feed]bool       // whose last commit failed
}

// The pace of commits.
const (
	commitEvery  = time.Second // at most, while positions move
	confirmEvery = time.Minute // although no position moves
	lastCommit   = 5 * time.Second
)

// work reacts to the facts of the shards until ctx ends. What is under way then is
// awaited within closeTimeout, and the positions are committed.
func (r *Reactor) work(ctx context.Context, feeds []*feed, held []facts.Lease) error {
	s := &session{Reactor: r, windows: map[*feed][]*window{}, moved: make(chan struct{}, 1), hurry: make(chan struct{}, 1), said: map[*window]position{}, failing: map[*feed]bool{}}
	if err := s.resume(ctx, feeds, held); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	for f, windows := range s.windows {
		for _, w := range windows {
			running.Go(func() { s.read(ctx, life, f, w, &running) })
		}
	}
	broken := s.commitUntil(ctx)
	stop()
	limit := time.AfterFunc(closeTimeout, end)
	defer limit.Stop()
	running.Wait()
	if broken != nil {
		return broken
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCommit)
	defer cancel()
	return s.commit(last, false)
}

// resume makes the windows at the committed positions. A position whose record the
// partition does not have is of another log, or of one that has lost its tail: the handler
// begins again at offset 0.
func (s *session) resume(ctx context.Context, feeds []*feed, held []facts.Lease) error {
	if len(held) == 0 {
		return nil
	}
	partitions := int32(0)
	for _, l := range held {
		partitions = max(partitions, l.Shard+1)
	}
	log, err := s.config.EventLog.Describe(ctx)
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	ids := map[events.Family]string{}
	for _, t := range log.Topics {
		ids[t.Family] = t.ID
	}
	var mu sync.Mutex
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(8)
	for _, f := range feeds {
		reads.Go(func() error {
			topic := s.config.EventLog.Topic(f.family)
			committed, err := s.config.EventLog.GroupOffsets(ctx, s.Group(f.name, f.family), topic, partitions)
			if err != nil {
				return err
			}
			for _, l := range held {
				from := readPosition(committed[l.Shard].Next, committed[l.Shard].Metadata)
				other, err := from.prove(ctx, s.config.EventLog, topic, l.Shard)
				if err == nil && other != "" {
					s.config.Log.WarnContext(ctx, "the position of a handler is of another log; the handler begins again with the first fact", "handler", f.name, "found", other)
					from = position{}
					err = s.config.EventLog.CommitGroup(ctx, s.Group(f.name, f.family), topic, map[int32]eventlog.GroupOffset{l.Shard: {}})
				}
				if err != nil {
					return fmt.Errorf("resume %s: %w", f.name, err)
				}
				from.anchor.TopicID = ids[f.family]
				w := newWindow(l.Shard, from, s.move)
				mu.Lock()
				s.windows[f], s.said[w] = append(s.windows[f], w), w.position()
				mu.Unlock()
			}
			return nil
		})
	}
	return reads.Wait()
}

// prove says how the partition differs from the one of the position; "" if it does not.
func (p position) prove(ctx context.Context, log eventlog.RecordReader, topic string, partition int32) (other string, err error) {
	all := []events.Anchor{p.anchor}
	if furthest := max(p.next, p.until); furthest > p.anchor.Next {
		all = append(all, events.Anchor{Next: furthest})
	}
	for _, at := range all {
		if other, err = eventlog.Prove(ctx, log, topic, partition, at); err != nil || other != "" {
			return other, err
		}
	}
	return "", nil
}

func (s *session) move() { signal(s.moved) }

// signal sends a value unless one is waiting.
func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// read reads a partition for a handler and hands out its facts.
func (s *session) read(ctx, life context.Context, f *feed, w *window, running *sync.WaitGroup) {
	for failing := false; ctx.Err() == nil; {
		if w.full(time.Now()) {
			w.awaitRoom(ctx)
			continue
		}
		batch, err := f.reader.Next(ctx, f.family, w.partition, w.next())
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if !failing {
				s.config.Log.WarnContext(ctx, "facts cannot be read for a handler", "handler", f.name, "error", err)
			}
			failing = true
			wait.For(ctx, redeliverAfter) //nolint:errcheck // the loop checks the context
			continue
		}
		failing = false
		for range batch.Rejected {
			s.observe(f.handler, outcomeNoFact, 0)
		}
		for _, slot := range w.add(&batch) {
			running.Go(func() { f.drive(ctx, life, w, slot, func() { signal(s.hurry) }) })
		}
	}
}

// awaitRoom waits until a fact has left memory, or one may have become stuck.
func (w *window) awaitRoom(ctx context.Context) {
	stuck := time.NewTimer(stuckAfter)
	defer stuck.Stop()
	select {
	case <-w.room:
	case <-stuck.C:
	case <-ctx.Done():
	}
}

// commitUntil commits positions until ctx ends: when they move, at once after a
// dead letter, so that a crash seldom makes it twice, and otherwise once in
// confirmEvery. It returns errOtherLog when the positions are in another log.
func (s *session) commitUntil(ctx context.Context) error {
	confirm := time.NewTicker(confirmEvery)
	defer confirm.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		confirming := false
		select {
		case <-s.moved:
		case <-confirm.C:
			confirming = true
		case <-ctx.Done():
			return nil
		}
		if err := s.commit(ctx, confirming); err != nil {
			return err
		}
		pause.Reset(commitEvery)
		select {
		case <-pause.C:
		case <-s.hurry:
			s.move()
		case <-ctx.Done():
			return nil
		}
	}
}

// errOtherLog ends a session whose positions are in another log. The next one begins
// again where that is so.
var errOtherLog = errors.New("the log is not the one that was read")

// prove returns errOtherLog unless the log still has the records before the positions
// that were committed last, of the partitions in which one has moved, or of all.
func (s *session) prove(ctx context.Context, all bool) error {
	type partition struct {
		family events.Family
		number int32
	}
	last := map[partition]events.Anchor{}
	for f, windows := range s.windows {
		for _, w := range windows {
			at := partition{f.family, w.partition}
			if said := s.said[w]; (all || !w.position().equal(said)) && said.anchor.Next >= last[at].Next {
				last[at] = said.anchor
			}
		}
	}
	for at, anchor := range last {
		other, err := eventlog.Prove(ctx, s.config.EventLog, s.config.EventLog.Topic(at.family), at.number, anchor)
		if err == nil && other != "" {
			err = fmt.Errorf("%w: %s", errOtherLog, other)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commit commits the positions that have moved, or with all every position, unless they
// are in another log. What fails is tried again with the next commit.
func (s *session) commit(ctx context.Context, all bool) error {
	switch err := s.prove(ctx, all); {
	case errors.Is(err, errOtherLog):
		return err
	case err != nil: // the broker is out of reach
		s.move()
		return nil
	}
	for f, windows := range s.windows {
		err := s.commitGroup(ctx, f, windows, all)
		if err == nil {
			delete(s.failing, f)
			continue
		}
		if !s.failing[f] && ctx.Err() == nil {
			s.config.Log.WarnContext(ctx, "the position of a handler cannot be committed", "handler", f.name, "error", err)
			s.failing[f] = true
		}
		s.move()
	}
	return nil
}

func (s *session) commitGroup(ctx context.Context, f *feed, windows []*window, all bool) error {
	at := map[*window]position{}
	partitions := int32(0)
	for _, w := range windows {
		if p := w.position(); all || !p.equal(s.said[w]) {
			at[w] = p
			partitions = max(partitions, w.partition+1)
		}
	}
	if len(at) == 0 {
		return nil
	}
	group, topic := s.Group(f.name, f.family), s.config.EventLog.Topic(f.family)
	found, err := s.config.EventLog.GroupOffsets(ctx, group, topic, partitions)
	if err != nil {
		return err
	}
	offsets := map[int32]eventlog.GroupOffset{}
	for w, p := range at {
		if found[w.partition].Next <= p.next { // else another holder has done more
			offsets[w.partition] = eventlog.GroupOffset{Next: p.next, Metadata: p.metadata()}
		}
	}
	if len(offsets) > 0 {
		if err := s.config.EventLog.CommitGroup(ctx, group, topic, offsets); err != nil {
			return err
		}
	}
	for w, p := range at {
		s.said[w] = p
	}
	return nil
}
