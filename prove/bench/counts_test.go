package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCountsSumTheMetricsOfTheServices: lines of other metrics whose names begin the same,
// and those with an excluded label, are left out.
func TestCountsSumTheMetricsOfTheServices(t *testing.T) {
	t.Parallel()
	c := counts{}
	for _, service := range []string{`
# HELP netsim_projector_batch_records Records in a batch.
netsim_projector_batch_records_bucket{le="1"} 7
netsim_projector_batch_records_count 10
netsim_projector_records_total{verdict="accepted"} 90
netsim_projector_records_total{verdict="stale"} 6
netsim_log_requests_total{api="Produce"} 3
netsim_log_requests_total{api="ProduceMore"} 1000
netsim_log_requests_total{api="Fetch"} 5
`, `
netsim_projector_batch_records_count 2
netsim_projector_records_total{verdict="gap"} 4
`} {
		if err := c.read(strings.NewReader(service)); err != nil {
			t.Fatal(err)
		}
	}
	want := counts{"batches": 12, "records judged": 100, "not facts": 10, "produces": 3, "fetches": 5}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	per := c.since(counts{"batches": 2, "not facts": 10}, 50)
	if per["batches"] != 0.2 || per["records judged"] != 2 || per["not facts"] != 0 {
		t.Errorf("per operation %v", per)
	}
	if err := c.read(strings.NewReader("netsim_projector_batch_records_count many")); err == nil {
		t.Error("a value that is no number is accepted")
	}
}
