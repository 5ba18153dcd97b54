package main

import (
	"testing"
	"time"

	"netsim/infra/projector"
)

func TestProgressOfARebuild(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		report projector.Report
		want   string
	}{
		"at the start":    {projector.Report{LagRecords: 1000}, "0 of 1000 records"},
		"on the way":      {projector.Report{Records: 400, Facts: 400, LagRecords: 1000}, "400 of 1400 records, 40 facts a second, about 25s left"},
		"at the end":      {projector.Report{Records: 1400, Facts: 1400}, "1400 of 1400 records"},
		"with an index":   {projector.Report{Records: 1400, Facts: 1400, Indexing: true}, "1400 of 1400 records, making the indexes"},
		"with parked":     {projector.Report{Records: 7, Facts: 6, Parked: 1}, "7 of 7 records, 1 facts PARKED ('netsim streams parked --read-model ...' lists them)"},
		"after a restart": {projector.Report{Records: 1300, Facts: 100, LagRecords: 100}, "1300 of 1400 records, 10 facts a second, about 10s left"},
	} {
		if got := progress(tc.report, 10*time.Second); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
