package facts_test

import (
	"slices"
	"strings"
	"testing"

	"netsim/events"
	"netsim/infra/facts"
)

// TestRecordsArePicked: each record is the one at its offset, whether others are near or
// far, and near ones are fetched together.
func TestRecordsArePicked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		offsets []int64
		fetches int
	}{
		"none":                   {nil, 0},
		"one":                    {[]int64{5}, 1},
		"near each other":        {[]int64{0, 1, 2, 9}, 1},
		"more than one fetch":    {[]int64{0, 9, 10, 19, 20}, 3},
		"far from each other":    {[]int64{3, 400, 800}, 3},
		"the last of the log":    {[]int64{998, 999}, 1},
		"near and far, in turns": {[]int64{0, 1, 500, 501, 502}, 2},
	} {
		log := newFake(t, 1000)
		picked, err := facts.Pick(t.Context(), log, events.Workspaces, 3, c.offsets)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, offset := range c.offsets {
			want := log.records[offset]
			if picked[i].Offset != offset || string(picked[i].Value) != string(want.Value) || string(picked[i].Key) != string(want.Key) || len(picked[i].Headers) != len(want.Headers) {
				t.Errorf("%s: got the record %+v at %d, want %+v", name, picked[i], offset, want)
			}
		}
		if len(log.fetches) != c.fetches {
			t.Errorf("%s: %d fetches, want %d", name, len(log.fetches), c.fetches)
		}
	}
}

// TestAMissingRecordIsNotPicked: an offset without a record is an error that names it.
func TestAMissingRecordIsNotPicked(t *testing.T) {
	t.Parallel()
	log := newFake(t, 40)
	log.records = slices.Concat(log.records[:12], log.records[13:], log.records[:0]) // offset 12 is a gap
	if _, err := facts.Pick(t.Context(), log, events.Workspaces, 3, []int64{4, 12}); err == nil || !strings.Contains(err.Error(), "no record at workspaces/3@12") {
		t.Errorf("got %v, want that there is no record at 12", err)
	}
	if _, err := facts.Pick(t.Context(), log, events.Workspaces, 3, []int64{4, 90}); err == nil || !strings.Contains(err.Error(), "no record at workspaces/3@90") {
		t.Errorf("got %v, want that there is no record at 90", err)
	}
}
