package projections_test

import (
	"context"
	"testing"

	"netsim/fault"
	"netsim/projections"
)

// A position whose keys differ from the sort keys of the list in number or type is
// refused. Its cursor may come from another release, which had another order.
func TestAPositionOfAnotherOrderIsRefused(t *testing.T) {
	t.Parallel()
	type list = func(context.Context, projections.Page) error
	newestFirst := []string{"2026-11-21T08:30:00Z", "id"}
	for name, tc := range map[string]struct {
		list   list
		valid  []string // a position of the list
		broken []string // a position of the same length whose keys have other types
	}{
		"workspaces": {func(ctx context.Context, p projections.Page) error {
			_, _, err := projections.ListWorkspaces(ctx, nil, projections.WorkspaceQuery{Page: p})
			return err
		}, newestFirst, []string{"name", "id"}},
		"configurations": {func(ctx context.Context, p projections.Page) error {
			_, _, err := projections.ListConfigurations(ctx, nil, projections.ConfigurationQuery{Page: p})
			return err
		}, newestFirst, []string{"2026-11-21", "id"}},
		"tracesets": {func(ctx context.Context, p projections.Page) error {
			_, _, err := projections.ListTracesets(ctx, nil, projections.TracesetQuery{Page: p})
			return err
		}, newestFirst, []string{"2026-11-21", "id"}},
		"simulations": {func(ctx context.Context, p projections.Page) error {
			_, _, err := projections.ListSimulations(ctx, nil, projections.SimulationQuery{Page: p, Sort: []projections.Order{{Key: "created"}}}, nil)
			return err
		}, newestFirst, []string{"", "id"}},
		"logs": {func(ctx context.Context, p projections.Page) error {
			_, _, err := projections.ListLogs(ctx, nil, projections.LogQuery{Page: p})
			return err
		}, []string{"17"}, []string{"17.5"}},
		"balances": {func(ctx context.Context, p projections.Page) error {
			_, _, err := projections.ListBalances(ctx, nil, "", p)
			return err
		}, []string{"acct", "CREDIT"}, nil},
		"rates": {func(ctx context.Context, p projections.Page) error {
			_, _, err := projections.ListRates(ctx, nil, projections.RateQuery{Page: p})
			return err
		}, []string{"cpu", "0", "2026-01-01", "1"}, []string{"cpu", "none", "2026-01-01", "1"}},
		"billing items": {func(ctx context.Context, p projections.Page) error {
			_, _, err := projections.ListBillingItems(ctx, nil, projections.BillingItemQuery{BillingFilter: projections.BillingFilter{Page: p}})
			return err
		}, []string{"2026-11-21T08:30:00Z", "1"}, newestFirst},
		"billing events": {func(ctx context.Context, p projections.Page) error {
			_, _, err := projections.ListBillingEvents(ctx, nil, projections.BillingEventQuery{BillingFilter: projections.BillingFilter{Page: p}})
			return err
		}, []string{"2026-11-21T08:30:00Z", "1"}, newestFirst},
		"daily costs": {func(ctx context.Context, p projections.Page) error {
			_, _, err := projections.ListDailyCosts(ctx, nil, projections.DailyCostQuery{BillingFilter: projections.BillingFilter{Page: p}})
			return err
		}, []string{"2026-11-21", "1"}, newestFirst},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			positions := [][]string{{}, tc.valid[1:], append([]string{"more"}, tc.valid...)}
			if tc.broken != nil {
				positions = append(positions, tc.broken)
			}
			for _, position := range positions {
				// The database is nil, so a query would panic.
				err := tc.list(t.Context(), projections.Page{Limit: 10, After: position})
				if !fault.Is(err, fault.Validation) {
					t.Errorf("position %q: got %v, want a validation error", position, err)
				}
			}
		})
	}
}
