package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTable: a row has the figure, what was measured, its target, and its peers and
// limits, one below the other. A peer can be measured later than the figure; one that
// this run has not measured is left out.
func TestTable(t *testing.T) {
	t.Parallel()
	r := &report{Cores: 2, Go: "go1", Commit: "abc", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	r.add(figure{
		Name: "creates", Value: 3000, Unit: "/s", P50: 1.75, P99: 6, DrainedIn: 1.54, TimedOut: 2, Reach: "≥ 2,000/s",
		CPU: map[string]float64{"service": 1131.6, "broker": 560.4}, beside: []string{"a peer", "not measured"},
	}, limit{Name: "a limit", Value: 12000}, limit{Name: "of it", Value: 5, Unit: " MB"})
	r.add(figure{Name: "a peer", Value: 1500, Unit: "/s", P50: 2, P99: 9})
	r.compare()
	var out strings.Builder
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	want := `netsim on 2 cores, go1, commit abc, 2026-01-02T03:04:05Z

| figure  | measured                                                         | to reach  | peers and limits of the same run                    |
|---      |---                                                               |---        |---                                                  |
| creates | 3,000/s, p50 1.75 ms, p99 6.00 ms, 2 timed out, drained in 1.5 s | ≥ 2,000/s | a peer: 1,500/s, p50 2.00 ms, p99 9.00 ms (ratio 2) |
|         |                                                                  |           | a limit: 12,000/s (ratio 0.25)                      |
|         |                                                                  |           | of it: 5 MB                                         |
| a peer  | 1,500/s, p50 2.00 ms, p99 9.00 ms                                |           |                                                     |

| CPU per operation, µs | service or peer | broker | PostgreSQL | clients |
|---                    |---              |---     |---         |---      |
| creates               | 1,132           | 560    | 0          | 0       |
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
