package reactions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
	"netsim/rating"
)

const (
	ratedPage    = 1000 // items that are rated together
	ratedAtATime = 64   // costs that wait for their verdicts at a time
	missedNights = 31   // days that a night looks back for what has no cost
)

// bookClosed books the days of a closed item that have no cost yet, the last
// one that has included: an earlier run may have stopped within it.
func (b *Billing) bookClosed(ctx context.Context, f events.Fact, item *projections.BillingItem) error {
	day := dayOf(item.StartedAt)
	last, err := projections.LastRated(ctx, b.DB, item.ID)
	if err != nil {
		return err
	}
	if last != "" {
		if day, err = time.Parse(time.DateOnly, last); err != nil {
			return fmt.Errorf("the last day of item %d: %w", item.ID, err)
		}
	}
	end := f.Time
	if item.EndedAt != nil {
		end = *item.EndedAt
	}
	use := projections.Metered{AccountID: item.AccountID, RateName: item.RateName}
	for ; !day.After(end); day = day.AddDate(0, 0, 1) {
		if err := b.bookItems(ctx, use, day, []int64{item.ID}, causedBy(f)); err != nil {
			return err
		}
	}
	return nil
}

// AccrueDay books what every item that was active on a UTC day, which is over,
// costs for it. It may run again, and for days in any order: what is booked
// already, with the same result, is left as it is.
//
// A night may have been missed, so it also books the days of the month before
// for items that have no cost on them.
func (b *Billing) AccrueDay(ctx context.Context, date time.Time) error {
	day := dayOf(date)
	if b.Now().Before(day.AddDate(0, 0, 1)) {
		return fmt.Errorf("accrue %s: the day is not over", day.Format(time.DateOnly))
	}
	for back := missedNights; back > 0; back-- {
		missed := day.AddDate(0, 0, -back)
		if err := b.accrue(ctx, missed, missed.Format(time.DateOnly)); err != nil {
			return err
		}
	}
	return b.accrue(ctx, day, "")
}

// accrue books a day of all items, or, unless unbooked is "", of those that
// have no cost on that date.
func (b *Billing) accrue(ctx context.Context, day time.Time, unbooked string) error {
	next := day.AddDate(0, 0, 1)
	uses, err := projections.MeteredBetween(ctx, b.DB, day, next)
	if err != nil {
		return err
	}
	for _, use := range uses {
		items, err := projections.ItemsBetween(ctx, b.DB, use, day, next, unbooked)
		if err != nil {
			return err
		}
		for page := range slices.Chunk(items, ratedPage) {
			if err := b.bookItems(ctx, use, day, page, commands.Origin{Actor: systemActor}); err != nil {
				return fmt.Errorf("accrue %s of %s on %s: %w", use.RateName, use.AccountID, day.Format(time.DateOnly), err)
			}
		}
	}
	return nil
}

// bookItems rates a day of items and books what differs from the books.
func (b *Billing) bookItems(ctx context.Context, use projections.Metered, day time.Time, items []int64, from commands.Origin) error {
	rows, err := b.rate(ctx, use, day, items)
	if err != nil {
		return err
	}
	booked, err := projections.BookedCosts(ctx, b.DB, day.Format(time.DateOnly), items)
	if err != nil {
		return err
	}
	entries, err := reconcile(day, b.Now().UTC(), rows, booked)
	if err != nil || len(entries) == 0 {
		return err
	}
	ids, err := projections.DailyCostIDs.Next(ctx, b.DB, len(entries))
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(ratedAtATime)
	for i, e := range entries {
		e.cost.DailyCostID = ids[i]
		origin := from
		origin.CommandID = e.commandID
		group.Go(func() error {
			return b.run(ctx, use.AccountID, origin, commands.RecordDailyCost{Rated: e.cost})
		})
	}
	return group.Wait()
}

// rate returns the rows of some items for a day.
func (b *Billing) rate(ctx context.Context, use projections.Metered, day time.Time, items []int64) ([]events.DailyCostRated, error) {
	list, err := projections.RatesOf(ctx, b.DB, use)
	if err != nil {
		return nil, err
	}
	price, err := rating.PriceOn(day, use.AccountID, use.RateName, list)
	if err != nil {
		return nil, err
	}
	wanted := map[int64]bool{}
	for _, id := range items {
		wanted[id] = true
	}
	if !price.Alone() {
		items = nil // of all
	}
	begin, end := price.Window(day)
	usage, err := projections.UsageBetween(ctx, b.DB, use, begin, end, items)
	if err != nil {
		return nil, err
	}
	var rows []events.DailyCostRated
	for _, r := range rating.Day(day, price, usage) {
		if wanted[r.BillingItemID] {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
