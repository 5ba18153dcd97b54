package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/eventlog"
)

// Shape is a topic and the ends of its partitions.
type Shape struct {
	Topic
	Ends []int64
}

// Source is a log to copy: an Archive, or a Cluster.
type Source interface {
	Topics(ctx context.Context) ([]Shape, error)
	Groups(ctx context.Context) ([]Group, error)
	// Records returns records of a partition from an offset on, at least one unless the
	// log ends there.
	Records(ctx context.Context, family events.Family, partition int32, from int64) ([]events.Record, error)
}

// Copy copies a log into topics that do not exist, or that have a prefix of it from an
// earlier run that did not finish.
type Copy struct {
	From    Source
	To      *eventlog.Kafka
	Workers int                              // partitions at a time; as many as processors when 0
	Step    func(step string) error          // when set, called at each step; an error ends the run there
	Report  func(records int64)              // when set, called with how many records this run has appended
	Limit   func(context.Context, int) error // when set, called before so many bytes are appended

	copied    atomic.Int64
	producers map[string]int64 // by topic
}

// Copied is a partition that was copied and compared.
type Copied struct {
	Family    events.Family
	Partition int32
	Records   int64
	Digest    [sha256.Size]byte // of all records with their offsets and times
}

// ErrOther is wrapped by the error for topics that have other records than the log that
// is copied.
var ErrOther = errors.New("the topics have other records")

// Append appends what is missing, and returns how many records that were. The copy
// remains unfinished.
func (c *Copy) Append(ctx context.Context) (int64, error) {
	shapes, err := c.begin(ctx)
	if err != nil {
		return 0, err
	}
	err = c.each(ctx, shapes, c.partition)
	return c.copied.Load(), err
}

// begin makes the topics.
func (c *Copy) begin(ctx context.Context) ([]Shape, error) {
	shapes, err := c.From.Topics(ctx)
	if err != nil {
		return nil, err
	}
	sources := map[string]eventlog.CopySource{}
	for _, s := range shapes {
		sources[c.To.Topic(s.Family)] = eventlog.CopySource{ID: s.ID, Ends: s.Ends}
	}
	if c.producers, err = c.To.BeginCopy(ctx, sources); err != nil {
		return nil, err
	}
	return shapes, c.step("topics made")
}

// each calls f for every partition, several at a time.
func (c *Copy) each(ctx context.Context, shapes []Shape, f func(ctx context.Context, s Shape, partition int32) error) error {
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(c.Workers, runtime.GOMAXPROCS(0)))
	for _, s := range shapes {
		for n := range s.Partitions {
			group.Go(func() error { return f(working, s, n) })
		}
	}
	return group.Wait()
}

// partition compares what a partition has, and appends the rest.
func (c *Copy) partition(ctx context.Context, s Shape, n int32) error {
	topic, end := c.To.Topic(s.Family), s.Ends[n]
	has, err := c.compare(ctx, s, n)
	if err != nil {
		return err
	}
	for next := has; next < end; {
		records, err := c.From.Records(ctx, s.Family, n, next)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			return fmt.Errorf("%s/%d ends before offset %d, at %d", s.Family, n, end, next)
		}
		records = records[:min(int64(len(records)), end-next)]
		batches, err := eventlog.Batches(eventlog.AppendBatches(nil, records))
		if err != nil {
			return err
		}
		for _, b := range batches {
			if b.Base != next {
				return fmt.Errorf("%s/%d has no record at offset %d: the next is %d", s.Family, n, next, b.Base)
			}
			if c.Limit != nil {
				if err := c.Limit(ctx, len(b.Bytes)); err != nil {
					return err
				}
			}
			if err := c.To.CopyBatch(ctx, topic, n, c.producers[topic], b.Bytes); err != nil {
				return err
			}
			next = b.Next
			if total := c.copied.Add(b.Next - b.Base); c.Report != nil {
				c.Report(total)
			}
			if err := c.step("batch appended"); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare refuses a partition that has records that the source does not have at these
// offsets, and returns the partition's end.
func (c *Copy) compare(ctx context.Context, s Shape, n int32) (int64, error) {
	topic := c.To.Topic(s.Family)
	for next := int64(0); ; {
		have, end, err := c.To.Read(ctx, topic, n, next, readBytes, 0)
		if err != nil {
			return 0, err
		}
		if end > s.Ends[n] {
			return 0, fmt.Errorf("%w: %s/%d ends at offset %d, the log that is copied at %d", ErrOther, topic, n, end, s.Ends[n])
		}
		if len(have) == 0 && next >= end {
			return end, nil
		}
		for len(have) > 0 {
			want, err := c.From.Records(ctx, s.Family, n, next)
			if err != nil {
				return 0, err
			}
			count := min(len(have), len(want))
			for i := range count {
				if sumOf(eventlog.AppendBatches(nil, have[i:i+1])) != sumOf(eventlog.AppendBatches(nil, want[i:i+1])) {
					return 0, fmt.Errorf("%w: the record at offset %d of %s/%d is not the one of the log that is copied", ErrOther, have[i].Offset, topic, n)
				}
			}
			if count == 0 {
				return 0, fmt.Errorf("%w: the log that is copied has no record at offset %d of %s/%d", ErrOther, next, s.Family, n)
			}
			have = have[count:]
			next += int64(count)
		}
	}
}

// Finish appends what is missing, reads everything back, compares it, commits the
// positions of the consumer groups, and gives the topics the settings of a log. Nothing
// may be appended to the source meanwhile.
func (c *Copy) Finish(ctx context.Context) ([]Copied, error) {
	if _, err := c.Append(ctx); err != nil {
		return nil, err
	}
	shapes, err := c.From.Topics(ctx)
	if err != nil {
		return nil, err
	}
	source, err := c.digests(ctx, shapes, c.From.Records)
	if err != nil {
		return nil, err
	}
	target, err := c.digests(ctx, shapes, Cluster{Log: c.To}.Records)
	if err != nil {
		return nil, err
	}
	for i := range source {
		if source[i] != target[i] {
			return nil, fmt.Errorf("%w: %s/%d has %d records with digest %x, the log that is copied %d with %x: delete the topics and repeat the command",
				ErrOther, c.To.Topic(source[i].Family), source[i].Partition, target[i].Records, target[i].Digest[:4], source[i].Records, source[i].Digest[:4])
		}
	}
	if err := c.same(ctx, shapes); err != nil {
		return nil, err
	}
	if err := c.step("compared"); err != nil {
		return nil, err
	}
	if err := c.commit(ctx, shapes); err != nil {
		return nil, err
	}
	if err := c.step("groups committed"); err != nil {
		return nil, err
	}
	var names []string
	for _, s := range shapes {
		names = append(names, c.To.Topic(s.Family))
	}
	return target, c.To.FinishCopy(ctx, names)
}

// same refuses a source or a target that has grown.
func (c *Copy) same(ctx context.Context, shapes []Shape) error {
	for who, log := range map[string]Source{"the log that is copied": c.From, "the copy": Cluster{Log: c.To}} {
		now, err := log.Topics(ctx)
		if err != nil {
			return err
		}
		for _, s := range shapes {
			i := slices.IndexFunc(now, func(t Shape) bool { return t.Family == s.Family })
			if i < 0 || !slices.Equal(now[i].Ends, s.Ends) {
				return fmt.Errorf("%s was appended to while it was compared: end every process that writes to it, and repeat the command", who)
			}
		}
	}
	return nil
}

// commit commits the positions of the groups, as far as the records were copied.
func (c *Copy) commit(ctx context.Context, shapes []Shape) error {
	groups, err := c.From.Groups(ctx)
	if err != nil {
		return err
	}
	type committed struct {
		name  string
		topic string
	}
	all := map[committed]map[int32]eventlog.GroupOffset{}
	for _, g := range groups {
		i := slices.IndexFunc(shapes, func(s Shape) bool { return s.Family == g.Family })
		if i < 0 || g.Partition >= shapes[i].Partitions {
			continue
		}
		key := committed{g.Name, c.To.Topic(g.Family)}
		if all[key] == nil {
			all[key] = map[int32]eventlog.GroupOffset{}
		}
		if end := shapes[i].Ends[g.Partition]; g.Next > end {
			g.Next, g.Metadata = end, ""
		}
		all[key][g.Partition] = eventlog.GroupOffset{Next: g.Next, Metadata: g.Metadata}
	}
	for key, offsets := range all {
		if err := c.To.CommitGroup(ctx, key.name, key.topic, offsets); err != nil {
			return err
		}
	}
	return nil
}

// digests reads every partition of a log up to its end.
func (c *Copy) digests(ctx context.Context, shapes []Shape, read func(context.Context, events.Family, int32, int64) ([]events.Record, error)) ([]Copied, error) {
	var all []Copied
	at := map[events.Family]int{}
	for _, s := range shapes {
		at[s.Family] = len(all)
		for n := range s.Partitions {
			all = append(all, Copied{Family: s.Family, Partition: n})
		}
	}
	err := c.each(ctx, shapes, func(ctx context.Context, s Shape, n int32) error {
		into, sum := &all[at[s.Family]+int(n)], sha256.New()
		for into.Records < s.Ends[n] {
			records, err := read(ctx, s.Family, n, into.Records)
			if err != nil {
				return err
			}
			if len(records) == 0 {
				break // the numbers of records differ
			}
			records = records[:min(int64(len(records)), s.Ends[n]-into.Records)]
			add(sum, records)
			into.Records += int64(len(records))
		}
		sum.Sum(into.Digest[:0])
		return nil
	})
	return all, err
}

// add adds records to a digest, in a form that does not depend on how they were read.
func add(sum hash.Hash, records []events.Record) {
	var one []byte
	for i := range records {
		one = eventlog.AppendBatches(one[:0], records[i:i+1])
		sum.Write(one)
	}
}

func (c *Copy) step(name string) error {
	if c.Step == nil {
		return nil
	}
	return c.Step(name)
}

// Cluster is a log in a Kafka cluster, as a Source.
type Cluster struct {
	Log       *eventlog.Kafka
	GroupsOf  map[string]events.Family // the consumer groups whose positions are copied
	ReadBytes int                      // of one read; 4 MiB when 0
}

// Topics implements Source.
func (c Cluster) Topics(ctx context.Context) (all []Shape, err error) {
	d, err := c.Log.DescribeAll(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range d.Topics {
		s := Shape{Topic: Topic{t.Family, t.ID, int32(len(t.Partitions))}}
		for n, p := range t.Partitions {
			if p.Start > 0 {
				return nil, fmt.Errorf("%s/%d begins at offset %d: the log has lost its first records", t.Name, n, p.Start)
			}
			s.Ends = append(s.Ends, p.End)
		}
		all = append(all, s)
	}
	return all, nil
}

// Groups implements Source.
func (c Cluster) Groups(ctx context.Context) ([]Group, error) {
	a := Archiver{Log: c.Log, Groups: c.GroupsOf}
	return a.groups(ctx)
}

// Records implements Source.
func (c Cluster) Records(ctx context.Context, family events.Family, partition int32, from int64) ([]events.Record, error) {
	records, _, err := c.Log.Read(ctx, c.Log.Topic(family), partition, from, cmp.Or(c.ReadBytes, readBytes), 100*time.Millisecond)
	return records, err
}
