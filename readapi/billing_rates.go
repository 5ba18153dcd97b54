package readapi

import (
	"context"
	"fmt"
	"strconv"

	"netsim/api"
	"netsim/projections"
	"netsim/readapi/access"
)

// ListRates implements GET /billing/rates: the platform's rates and those of
// the account. A userName does not filter the rates; it is only audited.
func (b *Billing) ListRates(ctx context.Context, r api.ListRatesRequestObject) (api.ListRatesResponseObject, error) {
	lag := b.lag(ctx)
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	p := r.Params
	if p.Date != "" {
		if _, err := date("date", p.Date); err != nil {
			return nil, err
		}
	}
	l, err := newListing(ctx, b.Cursors, r, 50)
	if err != nil {
		return nil, err
	}
	if err := b.audit(ctx, caller, "ListRates", p.UserName); err != nil {
		return nil, err
	}
	rows, next, err := projections.ListRates(ctx, b.DB, projections.RateQuery{
		AccountID: access.Account(caller), Date: p.Date, Page: l.page,
	})
	if err != nil {
		return nil, unreachable(err)
	}
	rates := make([]api.Rate, len(rows))
	for i := range rows {
		if rates[i], err = rate(&rows[i]); err != nil {
			return nil, err
		}
	}
	return api.ListRates200JSONResponse{Headers: api.ListRates200ResponseHeaders(lag), Body: api.RateList{Rates: rates, Pagination: l.pagination(len(rates), next)}}, nil
}

func rate(r *projections.NamedRate) (api.Rate, error) {
	unitSize, err := strconv.ParseInt(r.UnitSize, 10, 64)
	if err != nil {
		return api.Rate{}, fmt.Errorf("read the unit size of rate %d: %w", r.RateID, err)
	}
	out := api.Rate{
		RateID: r.RateID, AccountID: nullable(r.AccountID), AccountName: r.AccountName, Platform: r.Platform,
		RateName: r.RateName, RateType: api.RateRateType(r.RateType), RateTypeRaw: r.RateTypeRaw, Amount: r.Amount,
		Period: api.RatePeriod(r.Period), MinimumPeriod: nullable(r.MinimumPeriod), TierStart: r.TierStart,
		StartDate: r.StartDate, EndDate: nullable(r.EndDate),
		Metadata: api.RateMetadata{
			Currency: api.Currency(r.Currency), UnitName: r.UnitName, UnitSize: unitSize,
			PackageSize: r.PackageSize, Note: r.Note,
		},
	}
	if r.TierEnd != 0 {
		out.TierEnd = &r.TierEnd
	}
	return out, nil
}
