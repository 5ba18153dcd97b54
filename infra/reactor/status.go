package reactor

import (
	"context"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/eventlog"
)

// Status is how far a handler has come in a partition.
type Status struct {
	Handler     string
	Family      events.Family
	Partition   int32
	Next        int64   // the first offset that the handler has not committed
	LagRecords  int64   // judged and not committed as done
	LagSeconds  float64 // since the log took the oldest of them
	DeadLetters int64
	DeadSince   *time.Time // since when the oldest dead letter is open
}

// Position is the first offset of a partition that is not judged.
type Position struct {
	Family    events.Family
	Partition int32
	Next      int64
}

// ReadStatus compares what handlers, by name and families, have committed with
// what is judged, at the given time.
func ReadStatus(ctx context.Context, log LagLog, prefix string, handlers map[string][]events.Family, judged []Position, letters []DeadLetter, now time.Time) ([]Status, error) {
	byFamily := map[events.Family][]Position{}
	for _, at := range judged {
		byFamily[at.Family] = append(byFamily[at.Family], at)
	}
	type found struct {
		handler string
		family  events.Family
		rows    []Status
	}
	var groups []*found
	for handler, families := range handlers {
		for _, family := range families {
			groups = append(groups, &found{handler: handler, family: family})
		}
	}
	var reads errgroup.Group
	reads.SetLimit(8)
	for _, g := range groups {
		reads.Go(func() (err error) {
			g.rows, err = readGroup(ctx, log, prefix, g.handler, g.family, byFamily[g.family], now)
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	var all []Status
	for _, g := range groups {
		all = append(all, g.rows...)
	}
	for i := range all {
		all[i].count(letters)
	}
	return all, nil
}

// OtherLog returns the groups, given with their families, whose positions are in another
// log. Their handlers begin again with the first fact of the partition.
func OtherLog(ctx context.Context, log LagLog, prefix string, groups map[string]events.Family, partitions int32) (found []string, err error) {
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		topic := prefixOf(prefix) + string(groups[group])
		committed, err := log.GroupOffsets(ctx, group, topic, partitions)
		if err != nil {
			return nil, err
		}
		for partition, at := range committed {
			other, err := readPosition(at.Next, at.Metadata).prove(ctx, log, topic, int32(partition))
			if err != nil {
				return nil, err
			}
			if other != "" {
				found = append(found, group)
				break
			}
		}
	}
	return found, nil
}

func readGroup(ctx context.Context, log LagLog, prefix, handler string, family events.Family, judged []Position, now time.Time) ([]Status, error) {
	topic := prefixOf(prefix) + string(family)
	committed, err := log.GroupOffsets(ctx, GroupOf(prefix, handler, family), topic, int32(len(judged)))
	if err != nil {
		return nil, err
	}
	rows := make([]Status, len(judged))
	for i, at := range judged {
		s := Status{Handler: handler, Family: family, Partition: at.Partition, Next: committed[at.Partition].Next}
		done := readPosition(s.Next, committed[at.Partition].Metadata)
		if s.LagRecords = done.behind(at.Next); s.LagRecords > 0 {
			age, err := eventlog.Age(ctx, log, topic, at.Partition, s.Next, now)
			if err != nil {
				return nil, err
			}
			s.LagSeconds = age.Seconds()
		}
		rows[i] = s
	}
	return rows, nil
}

// count counts the open letters of the handler and partition.
func (s *Status) count(letters []DeadLetter) {
	for _, l := range letters {
		if l.Handler != s.Handler || l.Family != s.Family || l.Partition != s.Partition {
			continue
		}
		s.DeadLetters++
		if s.DeadSince == nil || l.Since.Before(*s.DeadSince) {
			s.DeadSince = &l.Since
		}
	}
}
