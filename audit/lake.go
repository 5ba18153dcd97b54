package audit

import (
	"context"
	"fmt"

	"netsim/events"
)

// Lake reads the lake as one of its snapshots has it.
type Lake interface {
	// At returns the first offset of a partition that the snapshot does not have.
	At(family events.Family, partition int32) int64
	// Rows calls each with every row of a family's table, in the order in which they were
	// written.
	Rows(ctx context.Context, family events.Family, each func(*LakeRow) error) error
}

// LakeRow is a row of the lake.
type LakeRow struct {
	Partition int32 // of the log
	Offset    int64
	EventID   string
	Hash      string // of the event, in hex
	// Differs names a column whose value is not that of the fact with this hash, "" for
	// none.
	Differs func(f *Fact) (column string, err error)
}

// LakeReport is how the lake compares with the log.
type LakeReport struct {
	Partitions []LakePartition // those with facts or rows
	Findings   []Finding       // for each partition how many there are of each kind, and the first
}

// LakePartition is how the rows of a partition compare with its facts.
type LakePartition struct {
	Family    events.Family
	Partition int32
	Same      int64 // facts whose row has their values
	Different int64 // facts whose row has another value
	Missing   int64 // facts before the position of the lake that have no row
	Foreign   int64 // rows that are not of a fact, or that come twice
	Pending   int64 // facts that the lake does not have yet
}

// CompareLake judges the log and compares the lake with its facts: that the table of each
// family has a row for each fact before the position of the lake, with the same values,
// in the order of each partition, and no other row. The ends of the log must have been
// read after the lake's snapshot.
func CompareLake(ctx context.Context, log *Log, lake Lake) (report LakeReport, err error) {
	for i := range log.Topics {
		family := log.Topics[i].Family
		var all []*lakePartition
		for _, p := range log.open(family) {
			p.undigested = true
			at := &lakePartition{partition: p, end: p.topic.Ends[p.number], lake: lake.At(family, p.number)}
			at.LakePartition = LakePartition{Family: family, Partition: p.number}
			all = append(all, at)
		}
		err := lake.Rows(ctx, family, func(r *LakeRow) error {
			if r.Partition < 0 || int(r.Partition) >= len(all) {
				return fmt.Errorf("the lake has a row of partition %d of %s, which the log does not have", r.Partition, family)
			}
			return all[r.Partition].compare(ctx, r)
		})
		if err != nil {
			return report, err
		}
		for _, at := range all {
			if err := at.finish(ctx); err != nil {
				return report, err
			}
			if at.LakePartition != (LakePartition{Family: family, Partition: at.number}) {
				report.Partitions = append(report.Partitions, at.LakePartition)
			}
			report.Findings = append(report.Findings, at.findings()...)
		}
	}
	return report, nil
}

// lakePartition is a partition of the log that is compared with the lake.
type lakePartition struct {
	*partition
	LakePartition
	end  int64 // of the log
	lake int64 // the position of the lake

	different, missing, foreign string // the first of each
}

// compare compares a row with the fact at its offset.
func (p *lakePartition) compare(ctx context.Context, r *LakeRow) error {
	same := false
	if r.Offset >= p.next && r.Offset < p.end {
		err := p.advance(ctx, r.Offset+1, func(f *Fact) error {
			if f.Where.Offset < r.Offset || f.Hash.String() != r.Hash {
				p.miss(f)
				return nil
			}
			same = true
			column, err := r.Differs(f)
			switch {
			case err != nil:
				return err
			case column == "":
				p.Same++
			default:
				p.Different++
				first(&p.different, "the fact %s at offset %d, in %s", f.ID, f.Where.Offset, column)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !same {
		p.Foreign++
		first(&p.foreign, "event %s at offset %d", r.EventID, r.Offset)
	}
	return nil
}

func (p *lakePartition) miss(f *Fact) {
	if f.Where.Offset >= p.lake {
		p.Pending++
		return
	}
	p.Missing++
	first(&p.missing, "event %s at offset %d", f.ID, f.Where.Offset)
}

// finish compares the facts after the last row.
func (p *lakePartition) finish(ctx context.Context) error {
	return p.advance(ctx, p.end, func(f *Fact) error {
		p.miss(f)
		return nil
	})
}

func (p *lakePartition) findings() (all []Finding) {
	at := Where{Topic: p.topic.Name, Partition: p.number, Offset: min(p.lake, p.end)}
	add := func(n int64, what, first string) {
		if n > 0 {
			all = append(all, Finding{at, fmt.Sprintf("%d %s, the first is %s", n, what, first)})
		}
	}
	add(p.Missing, "facts of the log have no row in the lake", p.missing)
	add(p.Foreign, "rows of the lake are not of a fact of the log, or come twice", p.foreign)
	add(p.Different, "facts have another value in the lake", p.different)
	if p.lake > p.end {
		all = append(all, Finding{at, fmt.Sprintf("the lake is at offset %d, the log ends at %d", p.lake, p.end)})
	}
	return all
}

// first sets a text unless it is set.
func first(to *string, format string, args ...any) {
	if *to == "" {
		*to = fmt.Sprintf(format, args...)
	}
}
