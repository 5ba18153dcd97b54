package billing

import (
	"cmp"
	"context"
	"slices"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/rating"
)

const (
	unmetered = time.Second // until Cover is called again for a run that is not metered yet
	longest   = time.Minute // between two calls of Cover
)

// Cover holds what a running simulation of a prepaid account costs. If the run has used up
// its hold, the hold is changed to its cost and an hour more, or to what is free; if nothing
// is, the error is PaymentRequired, and the run must end. It returns when to call it again:
// when the hold will be used up at the current price, and within a minute.
func (h *Holds) Cover(ctx context.Context, simulation string) (again time.Time, err error) {
	now := h.Now().UTC()
	item, err := projections.NewBillingLookups(h.DB).LatestItem(ctx, resourceSimulation, simulation)
	switch {
	case err != nil:
		return now, err
	case item == nil:
		return now.Add(unmetered), nil
	case item.EndedAt != nil || slices.Contains(h.Postpaid, item.AccountID):
		return now.Add(longest), nil
	}
	c := cover{Holds: h, item: item, now: now}
	if err := c.read(ctx); err != nil {
		return now, err
	}
	lasts, err := c.lasts()
	if err != nil || lasts > 0 && lasts < 2*time.Hour { // after a booking, a hold may last for longer
		return now.Add(min(lasts, longest)), err
	}
	switch err := c.change(ctx); {
	case fault.Is(err, fault.PaymentRequired) && lasts == 0: // all is spent, and not more
		return now.Add(unmetered), nil
	case err != nil:
		return now, err
	}
	lasts, err = c.lasts()
	return now.Add(min(max(lasts, 0), longest)), err
}

// cover is the cost of a running simulation and its hold.
type cover struct {
	*Holds
	item *projections.BillingItem
	now  time.Time

	hourly, spent, currency string                  // the cost so far that is not booked
	last                    *projections.CreditHold // nil for none
	held                    string                  // what is held
}

func (c *cover) read(ctx context.Context) error {
	use := projections.Metered{AccountID: c.item.AccountID, RateName: c.item.RateName}
	price, err := priceOn(ctx, c.DB, use, dayOf(c.now))
	if err != nil {
		return err
	}
	c.hourly, c.currency = price.OneHour(dayOf(c.now), max(c.item.Quantity, clusterUnits(c.item.Ranks), 1))
	if c.last, err = projections.LastHold(ctx, c.DB, c.item.ResourceID); err != nil {
		return err
	}
	c.held = "0"
	if c.open() {
		c.held, c.currency = c.last.Amount, c.last.Currency
	}
	c.spent, err = (&Books{DB: c.DB}).unbooked(ctx, c.item, c.now)
	return err
}

// open reports whether there is a hold.
func (c *cover) open() bool { return c.last != nil && c.last.ReleasedAt == nil }

// lasts returns how long the hold lasts from now on, below 0 if the run has cost more.
func (c *cover) lasts() (time.Duration, error) {
	left, err := rating.Sub(c.held, c.spent)
	if err != nil {
		return 0, err
	}
	return rating.Lasts(left, c.hourly)
}

// change holds the cost so far and an hour more, or what is free.
func (c *cover) change(ctx context.Context) error {
	amount, err := rating.Add(c.spent, c.hourly)
	if err != nil || rating.Equal(amount, c.held) || rating.Equal(amount, "0") {
		return err
	}
	currency, expires := cmp.Or(c.currency, rating.Credit), c.now.Add(holdTTL)
	from := handle.Origin{Actor: events.System, CommandID: nextHold(c.item.ResourceID, c.last)}
	var hold commands.Command[commands.Account] = commands.HoldCredit{Prepaid: true, Held: events.CreditHeld{
		SimulationID: c.item.ResourceID, Amount: amount, Currency: currency, ExpiresAt: expires,
	}}
	if c.open() {
		from.CommandID = endOf(c.last)
		hold = commands.ChangeHold{Changed: events.CreditHoldChanged{
			SimulationID: c.item.ResourceID, Amount: amount, PreviousAmount: c.held, Currency: currency, ExpiresAt: expires,
		}}
	}
	result, err := onAccount(ctx, c.Commands, c.item.AccountID, from, hold)
	if err != nil || result.Event == nil { // repeated: the next call sees what another has done
		return err
	}
	switch d := result.Event.Data.(type) {
	case events.CreditHeld:
		c.held = d.Amount
	case events.CreditHoldChanged:
		c.held = d.Amount
	}
	return nil
}

// unbooked returns what an open item costs if it closes now, less what is booked.
func (b *Books) unbooked(ctx context.Context, item *projections.BillingItem, now time.Time) (string, error) {
	last, err := projections.NewBillingLookups(b.DB).LastRated(ctx, item.ID)
	if err != nil {
		return "", err
	}
	day, err := firstDay(item, last)
	if err != nil {
		return "", err
	}
	use := projections.Metered{AccountID: item.AccountID, RateName: item.RateName}
	if now.Before(item.ChangedAt) { // by another clock
		now = item.ChangedAt
	}
	closed := events.UsageRecorded{BillingItemID: item.ID, Action: commands.UsageStop, PreviousCount: item.Quantity, OccurredAt: now}
	var cost, booked rating.Sum
	for ; !day.After(now); day = day.AddDate(0, 0, 1) {
		price, err := priceOn(ctx, b.DB, use, day)
		if err != nil {
			return "", err
		}
		rows, err := projections.BookedCosts(ctx, b.DB, day.Format(time.DateOnly), []int64{item.ID})
		if err != nil {
			return "", err
		}
		rated, err := b.rate(ctx, &dayBatch{use: use, day: day, price: price, items: []int64{item.ID}, assumed: []events.UsageRecorded{closed}}, rows)
		if err != nil {
			return "", err
		}
		for _, r := range rated {
			if err := cost.Add(r.Cost); err != nil {
				return "", err
			}
		}
		for _, r := range rows {
			if err := booked.Add(r.Cost); err != nil {
				return "", err
			}
			if err := booked.Add(r.Corrected); err != nil {
				return "", err
			}
		}
	}
	return rating.Sub(cost.String(), booked.String())
}
