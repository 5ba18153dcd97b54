package operate

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"netsim/cmd/connections"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/projector"
	"netsim/stream/export"
)

// ExportOptions are the options of an export that do not select facts.
type ExportOptions struct {
	To     string        // a directory, or s3://bucket/prefix in the object store of the settings
	Stall  time.Duration // how long to wait for the read model
	Report func(export.Progress)
}

// ExportFacts writes facts to files, or goes on with an export that was interrupted.
func (t *Tools) ExportFacts(ctx context.Context, r export.Request, o ExportOptions) (m *export.Manifest, err error) {
	target, err := connections.ExportTarget(&t.conn.Config, o.To, connections.Observer{})
	if err != nil {
		return nil, err
	}
	err = t.judged(ctx, func(ctx context.Context, log export.Log, watcher *projector.Watcher) error {
		x := export.Export{
			Request: r, Log: log, Facts: facts.NewFrameReader(t.conn.EventLog, watcher), Records: t.conn.EventLog, Target: target, Stall: o.Stall, Report: o.Report,
		}
		m, err = x.Run(ctx)
		return err
	})
	return m, err
}

// VerifyExport compares the files of an export with its manifest. It reads the settings
// from the environment only for a target in an object store.
func VerifyExport(ctx context.Context, to string) (*export.Manifest, []string, error) {
	var c settings.Config
	if strings.HasPrefix(to, "s3://") {
		var err error
		if c, err = settings.FromEnvironment(); err != nil {
			return nil, nil, err
		}
	}
	target, err := connections.ExportTarget(&c, to, connections.Observer{})
	if err != nil {
		return nil, nil, err
	}
	return export.Verify(ctx, target)
}

// TailOptions says where a tail begins and ends.
type TailOptions struct {
	Beginning bool          // at the beginning of the log
	Since     time.Duration // with the facts that were recorded in this time; 0: with new ones
	Count     int64         // of facts; without end when 0
}

// TailFacts writes the facts that pass, one a line, until ctx ends.
func (t *Tools) TailFacts(ctx context.Context, f export.Filters, o TailOptions, out io.Writer) error {
	return t.judged(ctx, func(ctx context.Context, log export.Log, watcher *projector.Watcher) error {
		tail := export.Tail{Filters: f, Log: log, Facts: facts.NewReader(t.conn.EventLog, watcher), Count: o.Count}
		switch {
		case o.Beginning:
			tail.Starts = func(context.Context, events.Family, int32) (int64, error) { return 0, nil }
		case o.Since > 0:
			tail.Since = time.Now().Add(-o.Since)
			tail.Starts = func(ctx context.Context, family events.Family, partition int32) (int64, error) {
				return recordedSince(ctx, t.conn.EventLog, family, partition, tail.Since)
			}
		}
		return tail.Run(ctx, out)
	})
}

// judged runs use with the description of the log and a watcher of the verdicts.
func (t *Tools) judged(ctx context.Context, use func(context.Context, export.Log, *projector.Watcher) error) error {
	d, err := t.conn.EventLog.Describe(ctx)
	if err != nil {
		return err
	}
	log := export.Log{Cluster: d.ClusterID}
	for _, topic := range d.Topics {
		one := export.Topic{Family: topic.Family, Name: topic.Name, ID: topic.ID}
		for _, p := range topic.Partitions {
			one.Ends = append(one.Ends, p.End)
		}
		log.Topics = append(log.Topics, one)
	}
	return t.watching(ctx, func(ctx context.Context, watcher *projector.Watcher) error { return use(ctx, log, watcher) })
}

// recordedSince returns the offset of the first record of a partition that the broker
// appended at or after a time. Records are in the order of these times.
func recordedSince(ctx context.Context, log *eventlog.Kafka, family events.Family, partition int32, at time.Time) (int64, error) {
	low, high := int64(0), int64(-1)
	for high < 0 || low < high {
		middle := low
		if high > 0 {
			middle = low + (high-low)/2
		}
		records, end, err := log.Read(ctx, log.Topic(family), partition, middle, 1, 0)
		if err != nil {
			return 0, fmt.Errorf("find the records since %s: %w", at.Format(time.RFC3339), err)
		}
		if high < 0 {
			high = end
		}
		switch {
		case len(records) == 0 || middle >= high:
			high = middle
		case records[0].Time.Before(at):
			low = records[0].Offset + 1
		default:
			high = middle
		}
	}
	return low, nil
}
