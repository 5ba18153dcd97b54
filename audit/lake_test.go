package audit

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
)

// lakeWorld has the rows of a lake in memory.
type lakeWorld struct {
	rows map[events.Family][]LakeRow
	at   map[string]int64 // by family and partition
}

// At implements Lake.
func (w *lakeWorld) At(family events.Family, partition int32) int64 {
	return w.at[partitionName(string(family), partition)]
}

// Rows implements Lake.
func (w *lakeWorld) Rows(_ context.Context, family events.Family, each func(*LakeRow) error) error {
	for i := range w.rows[family] {
		if err := each(&w.rows[family][i]); err != nil {
			return err
		}
	}
	return nil
}

// fillLake returns a lake with the facts of a log.
func fillLake(t *testing.T, log *Log) *lakeWorld {
	t.Helper()
	w := &lakeWorld{rows: map[events.Family][]LakeRow{}, at: map[string]int64{}}
	for _, p := range log.open() {
		w.at[partitionName(string(p.topic.Family), p.number)] = p.topic.Ends[p.number]
		err := p.advance(t.Context(), p.topic.Ends[p.number], func(f *Fact) error {
			w.rows[p.topic.Family] = append(w.rows[p.topic.Family], LakeRow{
				Partition: p.number, Offset: f.Where.Offset, EventID: f.ID, Hash: f.Hash.String(),
				Differs: func(*Fact) (string, error) { return "", nil },
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// TestCompareLake: the lake of a log agrees with it, also while it lags. Whatever else
// differs is counted, by partition, in both directions.
func TestCompareLake(t *testing.T) {
	t.Parallel()
	alices := events.PartitionOf(alice, testParts)
	mine := partitionName("billing", alices)
	for name, tt := range map[string]struct {
		change func(w *lakeWorld, all []LakeRow) []LakeRow // the rows of alice's partition
		want   LakePartition                               // besides the facts that are the same
		found  string                                      // "" if nothing is found
	}{
		"equal": {change: func(_ *lakeWorld, all []LakeRow) []LakeRow { return all }},
		"not in the lake yet": {change: func(w *lakeWorld, all []LakeRow) []LakeRow {
			w.at[mine] = all[len(all)-2].Offset
			return all[:len(all)-2]
		}, want: LakePartition{Pending: 2}},
		"a lost end": {change: func(_ *lakeWorld, all []LakeRow) []LakeRow { return all[:len(all)-2] },
			want: LakePartition{Missing: 2}, found: "2 facts of the log have no row in the lake"},
		"one missing": {change: func(_ *lakeWorld, all []LakeRow) []LakeRow { return slices.Delete(all, 1, 2) },
			want: LakePartition{Missing: 1}, found: "1 facts of the log have no row in the lake"},
		"one twice": {change: func(_ *lakeWorld, all []LakeRow) []LakeRow { return slices.Insert(all, 2, all[1]) },
			want: LakePartition{Foreign: 1}, found: "or come twice"},
		"another value": {change: func(_ *lakeWorld, all []LakeRow) []LakeRow {
			all[2].Differs = func(*Fact) (string, error) { return "cost", nil }
			return all
		}, want: LakePartition{Different: 1}, found: "1 facts have another value in the lake, the first is the fact "},
		"other events in the place of the last facts": {change: func(_ *lakeWorld, all []LakeRow) []LakeRow {
			for i := range 3 {
				all[len(all)-1-i].Hash = strings.Repeat("0", 64)
			}
			return all
		}, want: LakePartition{Missing: 3, Foreign: 3}, found: "3 rows of the lake are not of a fact of the log"},
		"rows after the end of the log": {change: func(w *lakeWorld, all []LakeRow) []LakeRow {
			w.at[mine] += 5
			return append(all, LakeRow{Partition: alices, Offset: w.at[mine] - 1})
		}, want: LakePartition{Foreign: 1}, found: "the log ends at"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := fourDays(t).log()
			w := fillLake(t, log)
			var others, rows []LakeRow
			for _, r := range w.rows[events.Billing] {
				if r.Partition == alices {
					rows = append(rows, r)
				} else {
					others = append(others, r)
				}
			}
			facts := int64(len(rows))
			w.rows[events.Billing] = append(others, tt.change(w, slices.Clone(rows))...)
			report, err := CompareLake(t.Context(), log, w)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			want.Family, want.Partition = events.Billing, alices
			want.Same = facts - want.Missing - want.Different - want.Pending
			for _, p := range report.Partitions {
				if p.Family == events.Billing && p.Partition == alices {
					if d := cmp.Diff(want, p); d != "" {
						t.Errorf("the partition (-want +got):\n%s", d)
					}
				} else if p.Missing+p.Foreign+p.Different+p.Pending > 0 {
					t.Errorf("another partition: %+v", p)
				}
			}
			var said []string
			for _, f := range report.Findings {
				said = append(said, f.String())
			}
			if text := strings.Join(said, "\n"); (tt.found == "") != (text == "") || !strings.Contains(text, tt.found) {
				t.Errorf("found %q, want %q", text, tt.found)
			}
		})
	}
}
