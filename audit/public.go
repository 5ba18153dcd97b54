package audit

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"netsim/events"
)

// PublicTopics reads the public topics: committed records only.
type PublicTopics interface {
	// Partitions returns the name of a family's public topic and its number of
	// partitions; 0 if there is no topic.
	Partitions(ctx context.Context, family events.Family) (topic string, count int32, err error)
	// Start returns the offset of the first record that a partition still has.
	Start(ctx context.Context, family events.Family, partition int32) (int64, error)
	// Read returns committed records from an offset on, and where to continue; that
	// is the same offset at the end.
	Read(ctx context.Context, family events.Family, partition int32, from int64) (records []events.Record, next int64, err error)
	// Claimed returns the first offset of a partition of the log that its publisher
	// does not claim to have published.
	Claimed(ctx context.Context, family events.Family, partition int32) (int64, error)
}

// PublicReport is how the public topics compare with the log.
type PublicReport struct {
	Families []PublicFamily
	Findings []Finding // the first difference of each public partition
}

// PublicFamily is how a public topic compares with the facts of its family.
type PublicFamily struct {
	Family  events.Family
	Topic   string
	Same    int64 // facts whose public record is what it must be
	Expired int64 // facts before the first record that the public topic still has
	Pending int64 // facts at the end that are not published yet
}

// ComparePublic judges the log and compares the public topics with its facts: that each
// public partition has the facts whose partition key belongs to it, each once, in the
// order of the log, with the same attributes and the same data. The public records of
// facts that are recorded meanwhile are not read.
func ComparePublic(ctx context.Context, log *Log, topics PublicTopics) (PublicReport, error) {
	var report PublicReport
	for i := range log.Topics {
		t := &log.Topics[i]
		name, count, err := topics.Partitions(ctx, t.Family)
		if err != nil {
			return report, err
		}
		f := &comparison{topics: topics, report: &report, of: PublicFamily{Family: t.Family, Topic: name}}
		switch shards := int32(len(t.Ends)); {
		case count == 0:
			report.Findings = append(report.Findings, Finding{What: fmt.Sprintf("there is no public topic of %s", t.Family)})
		case count%shards != 0:
			report.Findings = append(report.Findings, Finding{What: fmt.Sprintf(
				"%s has %d partitions, which is not a multiple of the %d of the log", name, count, shards)})
		default:
			for _, p := range log.open(t.Family) {
				p.undigested = true
				if err := f.shard(ctx, p, count); err != nil {
					return report, err
				}
			}
		}
		report.Families = append(report.Families, f.of)
	}
	return report, nil
}

// comparison compares the public topic of a family.
type comparison struct {
	topics PublicTopics
	report *PublicReport
	of     PublicFamily
}

// shard compares the facts of a partition of the log with the public partitions that
// have them.
func (c *comparison) shard(ctx context.Context, p *partition, count int32) error {
	claimed, err := c.topics.Claimed(ctx, c.of.Family, p.number)
	if err != nil {
		return err
	}
	end := p.topic.Ends[p.number]
	public := map[int32]*publicPartition{}
	for number := p.number; number < count; number += int32(len(p.topic.Ends)) {
		public[number] = &publicPartition{comparison: c, number: number, source: p, end: end, claimed: claimed}
		if err := public[number].open(ctx); err != nil {
			return err
		}
	}
	if err := p.advance(ctx, end, func(f *Fact) error {
		return public[events.PartitionOf(f.PartitionKey, count)].compare(ctx, f)
	}); err != nil {
		return err
	}
	for _, number := range slices.Sorted(maps.Keys(public)) {
		if err := public[number].finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

// publicPartition is a partition of a public topic that is compared.
type publicPartition struct {
	*comparison
	number  int32
	source  *partition // of the log
	end     int64      // the first offset of the source that is not compared
	claimed int64
	next    int64
	unread  []events.Record
	first   int64 // offset in the source of the first record; facts before it are expired
	ended   bool  // there are no more records
	differs bool  // a difference was found
}

// open finds the first record.
func (p *publicPartition) open(ctx context.Context) (err error) {
	if p.next, err = p.topics.Start(ctx, p.of.Family, p.number); err != nil {
		return err
	}
	if p.next == 0 {
		return nil
	}
	r, err := p.peek(ctx)
	if err != nil {
		return err
	}
	p.first = p.end
	if r != nil {
		p.first = sourceOffset(r)
	}
	return nil
}

// peek returns the next record; nil at the end.
func (p *publicPartition) peek(ctx context.Context) (*events.Record, error) {
	for len(p.unread) == 0 && !p.ended {
		records, next, err := p.topics.Read(ctx, p.of.Family, p.number, p.next)
		if err != nil {
			return nil, err
		}
		p.ended = next == p.next
		p.unread, p.next = records, next
	}
	if len(p.unread) == 0 {
		return nil, nil
	}
	return &p.unread[0], nil
}

// compare compares a fact with the next record.
func (p *publicPartition) compare(ctx context.Context, f *Fact) error {
	if p.differs {
		return nil
	}
	if f.Where.Offset < p.first {
		p.of.Expired++
		return nil
	}
	r, err := p.peek(ctx)
	if err != nil {
		return err
	}
	switch {
	case r == nil && f.Where.Offset < p.claimed:
		p.differ(p.next, "the fact at %s is missing, and its publisher claims that it is published", f.Where)
	case r == nil:
		p.of.Pending++
	default:
		if what := difference(r, f); what != "" {
			p.differ(r.Offset, "the fact at %s must follow here: %s", f.Where, what)
			return nil
		}
		p.of.Same++
		p.unread = p.unread[1:]
	}
	return nil
}

// finish reports a record after the last fact, unless it is of a fact that was recorded
// since the audit began.
func (p *publicPartition) finish(ctx context.Context) error {
	if p.differs {
		return nil
	}
	r, err := p.peek(ctx)
	if err == nil && r != nil && sourceOffset(r) < p.end {
		p.differ(r.Offset, "the log has no further fact before offset %d, but here is %s", p.end, describe(r))
	}
	return err
}

func (p *publicPartition) differ(offset int64, format string, args ...any) {
	p.differs = true
	at := Where{Topic: p.of.Topic, Partition: p.number, Offset: offset}
	p.report.Findings = append(p.report.Findings, Finding{at, fmt.Sprintf(format, args...)})
}

// The headers of a public record that say where its fact is in the log.
const (
	headerTopic     = "netsim-source-topic"
	headerPartition = "netsim-source-partition"
	headerOffset    = "netsim-source-offset"
)

// sourceOffset returns the offset in the log that a public record has; -1 if it has none.
func sourceOffset(r *events.Record) int64 {
	for _, h := range r.Headers {
		if h.Key == headerOffset {
			if n, err := strconv.ParseInt(string(h.Value), 10, 64); err == nil && n >= 0 {
				return n
			}
		}
	}
	return -1
}

// describe names a record by what it says of itself.
func describe(r *events.Record) string {
	for _, h := range r.Headers {
		if h.Key == "ce_id" {
			return fmt.Sprintf("event %q of stream %q from offset %d", h.Value, r.Key, sourceOffset(r))
		}
	}
	return fmt.Sprintf("a record without an event's id, key %q", r.Key)
}

// difference returns how a public record differs from that of a fact; "" if it does not.
func difference(r *events.Record, f *Fact) string {
	want := publicHeaders(f)
	for _, h := range r.Headers {
		text, ok := want[h.Key]
		switch {
		case !ok:
			return fmt.Sprintf("%s has the header %s, which no public fact has or which comes twice", describe(r), h.Key)
		case text != string(h.Value):
			return fmt.Sprintf("%s has %s %q, want %q", describe(r), h.Key, h.Value, text)
		}
		delete(want, h.Key)
	}
	switch {
	case len(want) > 0:
		return fmt.Sprintf("%s has no header %s", describe(r), slices.Min(slices.Collect(maps.Keys(want))))
	case string(r.Key) != f.Stream:
		return fmt.Sprintf("%s has the key %q, want %q", describe(r), r.Key, f.Stream)
	case !bytes.Equal(r.Value, f.Value):
		return describe(r) + " has other data"
	}
	return ""
}

// publicHeaders returns the headers that the public record of a fact has (package
// stream/public). They are written here again, from the fact as the audit read it.
func publicHeaders(f *Fact) map[string]string {
	all := map[string]string{
		"ce_specversion": "1.0", "ce_id": f.ID, "ce_source": "/netsim", "ce_type": f.Type, "ce_subject": f.Stream,
		"ce_time": f.Time.UTC().Format(events.TimeLayout), "content-type": "application/json",
		"ce_dataschema": fmt.Sprintf("/schemas/%s/%d", url.PathEscape(f.Type), f.DataVersion),
		"ce_sequence":   strconv.FormatInt(f.Sequence, 10), "ce_partitionkey": f.PartitionKey,
		"ce_dataversion": strconv.Itoa(int(f.DataVersion)), "ce_recordedtime": f.RecordedAt.UTC().Format(events.TimeLayout),
		"ce_hash": f.Hash.String(), headerTopic: f.Where.Topic, headerPartition: strconv.Itoa(int(f.Where.Partition)),
		headerOffset: strconv.FormatInt(f.Where.Offset, 10),
	}
	for name, value := range map[string]string{
		"ce_commandid": f.CommandID, "ce_actor": f.Actor, "ce_correlationid": f.CorrelationID, "ce_causeid": f.CauseID,
	} {
		if value != "" {
			all[name] = value
		}
	}
	return all
}
