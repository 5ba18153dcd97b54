package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netsim/events"
)

// ReadModel is a snapshot of a read model.
type ReadModel interface {
	// At returns the position of each partition before which the facts are in the
	// snapshot.
	At() []Expected
	// Rows calls each with every row of a table, with the columns in the table's
	// order.
	Rows(ctx context.Context, table Table, each func(values []string) error) error
}

// Replayed is what a replay found.
type Replayed struct {
	Facts    int64 // number of billing facts
	Accounts int
	Rated    Rated
	Rows     map[string]int64 // compared rows of the read model, by table
	Findings []Finding
}

// settling is how long after midnight the nightly accrual may take to book the
// day before.
const settling = time.Hour

// Replay folds every fact of billing, rates every day again up to now, and
// compares the result with the costs in the log. Unless readModel is nil, it
// reads the log up to the read model's position and compares its rows too.
//
// The rates are those of the platform's stream, whose partition is read first.
// Without a read model, each partition's books are therefore complete once it has
// been read, and are then dropped. They need about a kilobyte for each billing
// event and current cost.
func Replay(ctx context.Context, log *Log, platform string, readModel ReadModel, now time.Time) (Replayed, error) {
	b, out := newBooks(), Replayed{}
	settled := dayOf(now.Add(-settling))
	for _, p := range ratesFirst(log.open(events.Billing), platform) {
		p.undigested = true
		to := p.topic.Ends[p.number]
		if readModel != nil {
			for _, e := range readModel.At() {
				if e.Family == p.topic.Family && e.Partition == p.number {
					to = e.Next
				}
			}
		}
		if err := p.advance(ctx, to, b.fold); err != nil {
			return Replayed{}, err
		}
		if readModel == nil {
			out.Accounts += len(b.accounts)
			out.Rated.add(b.rerate(now, settled))
			b.forget()
		}
	}
	out.Facts = b.facts
	if readModel != nil {
		out.Accounts = len(b.accounts)
		out.Rated = b.rerate(now, settled)
		var err error
		if out.Rows, err = b.compare(ctx, readModel); err != nil {
			return Replayed{}, err
		}
	}
	out.Findings = b.findings
	return out, nil
}

// ratesFirst puts the partition of the platform's stream before the others.
func ratesFirst(parts []*partition, platform string) []*partition {
	slices.SortStableFunc(parts, func(a, b *partition) int {
		return cmp.Compare(a.distance(platform), b.distance(platform))
	})
	return parts
}

func (p *partition) distance(stream string) int {
	if p.number == events.PartitionOf(stream, int32(len(p.topic.Ends))) {
		return 0
	}
	return 1
}

// maxDifferences is how many differences of a table are listed.
const maxDifferences = 10

// compare compares the rows of the read model with those that follow from the
// facts.
func (b *books) compare(ctx context.Context, readModel ReadModel) (map[string]int64, error) {
	expected, counts := b.tables(), map[string]int64{}
	for _, t := range Tables() {
		want, found := expected[t.Name], int64(0)
		differ := func(key, format string, args ...any) {
			if found++; found <= maxDifferences {
				b.find(Where{}, "%s %s: %s", t.Name, strings.ReplaceAll(key, keyMark, " "), fmt.Sprintf(format, args...))
			}
		}
		err := readModel.Rows(ctx, t, func(got []string) error {
			counts[t.Name]++
			key := keyOf(got[:t.Keys])
			row, known := want[key]
			if !known {
				differ(key, "the log makes no such row")
				return nil
			}
			delete(want, key)
			for i, value := range row() {
				if value != got[i] {
					differ(key, "%s is %q, by the log %q", t.Columns[i].Name, got[i], value)
					break
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the rows of %s: %w", t.Name, err)
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			differ(key, "the read model has no such row")
		}
		if found > maxDifferences {
			b.find(Where{}, "%s: %d more rows differ", t.Name, found-maxDifferences)
		}
	}
	return counts, nil
}
