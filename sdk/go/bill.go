package netsim

import (
	"context"
	"time"

	"netsim/sdk/go/api"
)

// Costs returns the daily costs of a run that has ended, once billing has followed its end;
// none if it never started. It takes a token that may read bills.
func (c *Client) Costs(ctx context.Context, run *api.Simulation) ([]api.DailyCost, error) {
	if run.StartedAt.IsZero() {
		return nil, nil
	}
	for attempt := 0; ; attempt++ {
		costs, err := c.costs(ctx, run)
		if err != nil || len(costs) > 0 {
			return costs, err
		}
		if err := sleep(ctx, backoff(attempt)); err != nil {
			return nil, err
		}
	}
}

// costs returns those of the closed billing items of a run. Items come newest first.
func (c *Client) costs(ctx context.Context, run *api.Simulation) (costs []api.DailyCost, err error) {
	items := map[int64]bool{}
	for item, err := range c.AllBillingItems(ctx, api.ListBillingItemsParams{EventType: new("cluster")}) {
		if err != nil {
			return nil, err
		}
		if item.StartTimestamp.Before(run.CreatedAt) {
			break
		}
		if item.Details.ResourceID == run.ID && item.EndTimestamp != nil {
			items[item.BillingItemID] = true
		}
	}
	if len(items) == 0 {
		return nil, nil
	}
	from, to := run.StartedAt.UTC().Format(time.DateOnly), run.CompletedAt.UTC().Format(time.DateOnly)
	for cost, err := range c.AllCosts(ctx, api.ListCostsParams{StartDate: from, EndDate: to}) {
		if err != nil {
			return nil, err
		}
		if items[cost.BillingItemID] {
			costs = append(costs, cost)
		}
	}
	return costs, nil
}
