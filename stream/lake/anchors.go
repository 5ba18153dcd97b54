package lake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"netsim/events"
	"netsim/infra/eventlog"
)

// ErrOtherLog is wrapped by the error for a lake with the facts of another log, as after
// the loss of records that an operator has accepted.
var ErrOtherLog = errors.New("the lake has facts that the log does not have, and is not written any more; 'netsim lake drop' deletes it, and it is written again from the first fact")

// anchors say in which log the positions of a lake are.
type anchors struct {
	log    eventlog.RecordReader
	topics map[events.Family]eventlog.Topic
	of     map[source]events.Anchor
}

// open returns ErrOtherLog unless all anchors are in the log.
func (a *anchors) open(ctx context.Context, log Log) error {
	d, err := log.Describe(ctx)
	if err != nil {
		return fmt.Errorf("compare the lake with the log: %w", err)
	}
	a.log, a.topics = log, map[events.Family]eventlog.Topic{}
	for _, t := range d.Topics {
		a.topics[t.Family] = t
	}
	for _, s := range slices.SortedFunc(maps.Keys(a.of), source.compare) {
		if err := a.proveOne(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (s source) compare(other source) int {
	return cmp.Or(cmp.Compare(s.family, other.family), cmp.Compare(s.partition, other.partition))
}

// prove returns ErrOtherLog unless the log still has the records before what was cut.
func (a *anchors) prove(ctx context.Context, cut []*newFile) error {
	for _, f := range cut {
		for s := range f.moved {
			if err := a.proveOne(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *anchors) proveOne(ctx context.Context, s source) error {
	other, err := eventlog.Prove(ctx, a.log, a.topics[s.family].Name, s.partition, a.of[s])
	if err == nil && other != "" {
		err = fmt.Errorf("%w: %s", ErrOtherLog, other)
	}
	return err
}

// after returns the anchor of a partition after it has moved.
func (a *anchors) after(s source, m moved) events.Anchor {
	at := a.of[s]
	at.TopicID = a.topics[s.family].ID
	return at.After(m.anchor.Next, m.anchor.Last)
}

func (a *anchors) move(s source, m moved) { a.of[s] = a.after(s, m) }
