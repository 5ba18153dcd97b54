package readapi

import (
	"context"
	"encoding/json"
	"fmt"

	"netsim/api"
	"netsim/events"
	"netsim/projections"
	"netsim/readapi/access"
)

// ListCosts implements GET /billing/costs: by date and daily cost id.
func (b *Billing) ListCosts(ctx context.Context, r api.ListCostsRequestObject) (api.ListCostsResponseObject, error) {
	lag := b.lag(ctx)
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	p := r.Params
	if _, _, err := dates(p.StartDate, p.EndDate); err != nil {
		return nil, err
	}
	l, err := newListing(ctx, b.Cursors, r, 50)
	if err != nil {
		return nil, err
	}
	if err := b.audit(ctx, caller, "ListCosts", p.UserName); err != nil {
		return nil, err
	}
	rows, next, err := projections.ListDailyCosts(ctx, b.DB, projections.DailyCostQuery{
		BillingFilter: b.filter(caller, l, p.WorkspaceName, p.UserName, ""),
		StartDate:     p.StartDate, EndDate: p.EndDate,
	})
	if err != nil {
		return nil, unreachable(err)
	}
	costs := make([]api.DailyCost, len(rows))
	for i := range rows {
		if costs[i], err = b.cost(&rows[i]); err != nil {
			return nil, err
		}
	}
	return api.ListCosts200JSONResponse{Headers: api.ListCosts200ResponseHeaders(lag), Body: api.DailyCostList{Costs: costs, Pagination: l.pagination(len(costs), next)}}, nil
}

func (b *Billing) cost(n *projections.Named[projections.DailyCost]) (api.DailyCost, error) {
	c := &n.Row
	var segments []events.CostSegment
	if err := json.Unmarshal([]byte(c.SegmentsJSON), &segments); err != nil {
		return api.DailyCost{}, fmt.Errorf("read the segments of daily cost %d: %w", c.DailyCostID, err)
	}
	details := api.DailyCostDetails{
		Segments: make([]api.CostSegment, len(segments)), DayPrice: c.DayPrice, UnitDays: c.UnitDays,
		Period: api.RatePeriod(c.Period), TierStart: c.TierStart, TierEnd: c.TierEnd, EngineVersion: c.EngineVersion,
		FirstEventID: c.FirstEventID, LastEventID: c.LastEventID,
		Version: c.Version, Supersedes: c.Supersedes, CorrectionOf: c.CorrectionOf,
	}
	for i, s := range segments {
		details.Segments[i] = api.CostSegment{
			From: timestamp(s.From), To: timestamp(s.To), Units: s.Units, Fraction: s.Fraction, Count: s.Count,
		}
	}
	return api.DailyCost{
		DailyCostID: c.DailyCostID, BillingItemID: c.BillingItemID, Date: c.Date,
		AccountID: c.AccountID, AccountName: n.Names.Account, PlatformName: b.Platform, ItemName: nullable(c.ItemName),
		RateID: c.RateID, RateName: c.RateName, RateAmount: c.RateAmount,
		Cost: c.Cost, CostCurrency: api.Currency(c.Currency), Quantity: c.Quantity,
		WorkspaceID: nullable(c.WorkspaceID), WorkspaceName: n.Names.Workspace,
		SandboxID: nullable(c.SandboxID), SandboxName: n.Names.Sandbox,
		UserID: nullable(c.UserID), UserName: n.Names.User,
		Details: details,
	}, nil
}

// unassigned is the key of costs without a workspace.
const unassigned = "unassigned"

// GetCostSummary implements GET /billing/costs/summary. A currency without
// costs in the range is null.
func (b *Billing) GetCostSummary(ctx context.Context, r api.GetCostSummaryRequestObject) (api.GetCostSummaryResponseObject, error) {
	lag := b.lag(ctx)
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	p := r.Params
	start, end, err := dates(p.StartDate, p.EndDate)
	if err != nil {
		return nil, err
	}
	sums, err := projections.SumCosts(ctx, b.DB, access.Account(caller), start, end)
	if err != nil {
		return nil, unreachable(err)
	}
	totals := map[string]*api.CostTotal{}
	for _, s := range sums {
		total := totals[s.Currency]
		if total == nil {
			total = &api.CostTotal{ByRate: map[string]string{}, ByWorkspace: map[string]string{}}
			totals[s.Currency] = total
		}
		switch {
		case s.RateName != nil:
			total.ByRate[*s.RateName] = s.Total
		case s.WorkspaceID == nil:
			total.Total = s.Total
		case *s.WorkspaceID == "":
			total.ByWorkspace[unassigned] = s.Total
		default:
			total.ByWorkspace[*s.WorkspaceID] = s.Total
		}
	}
	return api.GetCostSummary200JSONResponse{Headers: api.GetCostSummary200ResponseHeaders(lag), Body: api.CostSummary{
		StartDate: p.StartDate, EndDate: p.EndDate, CREDIT: totals["CREDIT"], USD: totals["USD"],
	}}, nil
}
