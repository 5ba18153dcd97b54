package billing

import (
	"cmp"
	"context"
	"slices"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
	"netsim/rating"
)

// Forecast is what simulations may hold and cost.
type Forecast struct {
	Currency string
	MostHeld string        // decimal; with as many unfinished at a time as may be
	Known    bool          // whether Time and Cost are
	Time     time.Duration // wall-clock, of all simulations together
	Cost     string        // decimal, of this time, without storage of results
}

// Forecast estimates simulations of an account from their number by ranks. At most
// atOnce of them are unfinished at a time. The time of each is the mean of the account's
// newest completed simulations with as many ranks.
func (h *Holds) Forecast(ctx context.Context, account string, runs map[int64]int64, atOnce int64) (f Forecast, err error) {
	today := dayOf(h.Now())
	price, err := priceOn(ctx, h.DB, projections.Metered{AccountID: account, RateName: events.MeterCluster}, today)
	if err != nil {
		return f, err
	}
	ranks := make([]int64, 0, len(runs))
	for r := range runs {
		ranks = append(ranks, r)
	}
	slices.SortFunc(ranks, func(a, b int64) int { return cmp.Compare(b, a) }) // the dearest hold most
	times, err := projections.RunTimes(ctx, h.DB, account, ranks)
	if err != nil {
		return f, err
	}
	var held, cost rating.Sum
	f.Known, f.Currency = true, rating.Credit
	for _, r := range ranks {
		hourly, currency := price.OneHour(today, max(clusterUnits(r), 1))
		f.Currency = cmp.Or(currency, f.Currency)
		n := min(runs[r], atOnce)
		atOnce -= n
		if err := held.AddTimes(hourly, n); err != nil {
			return f, err
		}
		mean, known := times[r]
		f.Known = f.Known && known
		of := time.Duration(runs[r]) * mean
		f.Time += of
		amount, err := rating.OfHour(hourly, of)
		if err != nil {
			return f, err
		}
		if err := cost.Add(amount); err != nil {
			return f, err
		}
	}
	f.MostHeld, f.Cost = held.String(), cost.String()
	return f, nil
}

// Require returns PaymentRequired if a prepaid account has no free credit for simulations.
// It holds nothing.
func (h *Holds) Require(ctx context.Context, account string) error {
	if slices.Contains(h.Postpaid, account) {
		return nil
	}
	f, err := h.Forecast(ctx, account, map[int64]int64{1: 1}, 1) // for the currency
	if err != nil {
		return err
	}
	_, err = onAccount(ctx, h.Commands, account, handle.System(), commands.RequireCredit{Currency: f.Currency})
	return err
}
