package billing_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/internal/testwait"
	"netsim/projections"
)

// Priors implements handle.Priors.
func (b *books) Priors(_ context.Context, stream string, commandIDs []string) (map[string]events.Prior, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := map[string]events.Prior{}
	for _, id := range commandIDs {
		if prior := b.prior[stream+"/"+id]; prior != nil {
			found[id] = *prior
		}
	}
	return found, nil
}

// counting counts queries.
type counting struct {
	projections.Reader
	queries atomic.Int64
}

func (c *counting) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	c.queries.Add(1)
	return c.Reader.Query(ctx, sql, args...)
}

func (c *counting) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	c.queries.Add(1)
	return c.Reader.QueryRow(ctx, sql, args...)
}

// TestReactionsAreRecordedTogether: facts of several streams that open and close
// items at the same time cost few queries, are each recorded once, and one that
// cannot be recorded fails alone.
func TestReactionsAreRecordedTogether(t *testing.T) {
	t.Parallel()
	const files = 60
	b := newBooks(t)
	db := &counting{Reader: b.pool}
	metering := newMetering(b.handler, db, b.now)
	var want []string
	var created, deleted []events.Fact
	for i := range files {
		id := fmt.Sprintf("mapfile_%026d", i+1)
		created = append(created, b.record(id, "ada", events.MappingFileCreated{
			AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: fmt.Sprintf("file %02d", i), SizeBytes: 1,
		}))
		want = append(want, fmt.Sprintf("storage start of file %02d: 0 to 1", i))
	}
	react := func(facts []events.Fact) (errs []error) {
		errs = make([]error, len(facts))
		var all sync.WaitGroup
		for i, f := range facts {
			all.Go(func() { errs[i] = metering.React(t.Context(), f) })
		}
		testwait.Group(t, &all, "the reactions")
		return errs
	}
	for range 2 { // and all of them again
		if errs := react(created); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
			t.Fatal(errs)
		}
	}
	if n := db.queries.Load(); n > 2*files/2 { // without sharing, each takes two
		t.Errorf("%d facts, each twice, cost %d queries", files, n)
	}
	for _, f := range created[:files/2] {
		deleted = append(deleted, b.record(f.Stream, "ada", events.MappingFileDeleted{Reason: "request"}))
	}
	b.exec(`UPDATE billing_items SET quantity = 1000 WHERE resource_id = $1`, deleted[7].Stream)
	for i, err := range react(deleted) {
		if bad := i == 7; bad != (err != nil) || bad && !strings.Contains(err.Error(), "below 0") {
			t.Errorf("fact %d: %v", i, err)
		}
		if i != 7 {
			want = append(want, fmt.Sprintf("storage stop of file %02d: 1 to 0", i))
		}
	}
	ids := map[int64]bool{}
	for _, f := range b.facts {
		if u, usage := f.Data.(events.UsageRecorded); usage && (ids[u.BillingEventID] || u.BillingItemID == 0) {
			t.Errorf("billing event %d of item %d: an id is taken twice or missing", u.BillingEventID, u.BillingItemID)
		} else if usage {
			ids[u.BillingEventID] = true
		}
	}
	var got []string
	for _, line := range b.recorded(account) {
		if line, _, usage := strings.Cut(line, ","); usage {
			got = append(got, line)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("billing events (-want +got):\n%s", diff)
	}
}
