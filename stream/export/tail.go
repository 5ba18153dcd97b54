package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/public"
	"netsim/stream/tables"
)

// Tail follows facts.
type Tail struct {
	Filters Filters
	Log     Log
	Facts   Reader
	// Starts returns the offset at which to begin; the end of the log when nil.
	Starts func(ctx context.Context, family events.Family, partition int32) (int64, error)
	Since  time.Time // facts that were recorded before are left out
	Count  int64     // how many facts to write; without end when 0

	mu      sync.Mutex
	out     *bufio.Writer
	line    []byte
	written int64
}

// errEnough ends a tail that has written all facts that were asked for.
var errEnough = errors.New("enough")

// Run writes each fact as one line of CloudEvents JSON, until ctx ends, out fails or Count
// facts are written. The facts of a partition are in the order of the log.
func (t *Tail) Run(ctx context.Context, out io.Writer) error {
	r := Request{Format: NDJSON, FileBytes: 1, Filters: t.Filters}
	if err := r.check(); err != nil {
		return err
	}
	if t.Filters = r.Filters; t.Filters.Account != "" {
		return errors.New("a tail has no filter by account")
	}
	t.out = bufio.NewWriterSize(out, 64<<10)
	group, ctx := errgroup.WithContext(ctx)
	for _, topic := range t.Log.Topics {
		for n, end := range topic.Ends {
			if t.Filters.covers(topic.Family, int32(n), int32(len(topic.Ends))) {
				group.Go(func() error { return t.follow(ctx, &topic, int32(n), end) })
			}
		}
	}
	err := group.Wait()
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (t *Tail) follow(ctx context.Context, topic *Topic, partition int32, from int64) (err error) {
	if t.Starts != nil {
		if from, err = t.Starts(ctx, topic.Family, partition); err != nil {
			return err
		}
	}
	table := tables.For(topic.Family)
	filter := newFilter(t.Filters, nil, table)
	for {
		b, err := t.Facts.Next(ctx, topic.Family, partition, from)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		}
		if err := t.write(topic.Name, table, filter, b.Facts); err != nil {
			return err
		}
		from = b.To
	}
}

// write writes the facts that pass, and sends them off.
func (t *Tail) write(topic string, table *tables.Table, filter *filter, list []facts.Fact) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Count > 0 && t.written >= t.Count { // by another partition, before its end reached this one
		return errEnough
	}
	var row tables.Row
	for i := range list {
		f := &list[i]
		// A value that the table cannot hold is no reason not to show the fact.
		if err := table.Row(&row, f); err != nil && !isValue(err) {
			return err
		}
		if f.RecordedAt.Before(t.Since) || !filter.passes(f, &row) {
			continue
		}
		t.line = append(public.AppendJSON(t.line[:0], f, topic), '\n')
		if _, err := t.out.Write(t.line); err != nil {
			return fmt.Errorf("write a fact: %w", err)
		}
		if t.written++; t.written == t.Count {
			if err := t.out.Flush(); err != nil {
				return err
			}
			return errEnough
		}
	}
	return t.out.Flush()
}

func isValue(err error) bool {
	_, is := errors.AsType[*tables.ValueError](err)
	return is
}
