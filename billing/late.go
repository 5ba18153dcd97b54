package billing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
)

// bookClosed books the days of a closed item, from the last day that has a cost to
// its end. It books that day again, because an earlier attempt may have stopped
// within it.
func (b *Books) bookClosed(ctx context.Context, f events.Fact, item *projections.BillingItem, last string) error {
	day, err := firstDay(item, last)
	if err != nil {
		return err
	}
	end := f.Time
	if item.EndedAt != nil {
		end = *item.EndedAt
	}
	use := projections.Metered{AccountID: item.AccountID, RateName: item.RateName}
	for ; !day.After(end); day = day.AddDate(0, 0, 1) {
		if err := b.bookItems(ctx, use, day, []int64{item.ID}, handle.System().CausedBy(&f)); err != nil {
			return err
		}
	}
	return nil
}

// firstDay returns the first day of an item whose costs may change when it closes: the last
// that has a cost, or that of its start.
func firstDay(item *projections.BillingItem, last string) (time.Time, error) {
	if last == "" {
		return dayOf(item.StartedAt), nil
	}
	day, err := time.Parse(time.DateOnly, last)
	if err != nil {
		return day, fmt.Errorf("the last day of item %d: %w", item.ID, err)
	}
	return day, nil
}

// bookLate books again the past days that the billing events of a fact change. A
// billing event is late if it was recorded after the day on which it occurred.
// The accrual of that day may have run without it.
func (b *Books) bookLate(ctx context.Context, f events.Fact) error {
	today := dayOf(b.Now())
	if !dayOf(f.Time).Before(today) {
		return nil // its accrual is still to come
	}
	caused, err := projections.UsageCausedBy(ctx, b.DB, f.ID)
	if err != nil {
		return err
	}
	for _, e := range caused {
		day := dayOf(e.OccurredAt)
		if dayOf(e.ReceivedAt).Equal(day) {
			continue
		}
		use := projections.Metered{AccountID: e.AccountID, RateName: e.RateName}
		for ; day.Before(today); day = day.AddDate(0, 0, 1) {
			if err := b.bookChanged(ctx, use, day, e.BillingItemID, handle.System().CausedBy(&f)); err != nil {
				return fmt.Errorf("book %s again: %w", day.Format(time.DateOnly), err)
			}
		}
	}
	return nil
}

// bookChanged books a day of the items whose costs depend on one changed item:
// the item itself and, if the price of an item depends on the others, all items
// that are active on the day.
func (b *Books) bookChanged(ctx context.Context, use projections.Metered, day time.Time, item int64, from handle.Origin) error {
	price, err := priceOn(ctx, b.DB, use, day)
	if err != nil {
		return err
	}
	items := []int64{item}
	if !price.Alone() {
		others, err := projections.ItemsBetween(ctx, b.DB, use, day, day.AddDate(0, 0, 1))
		if err != nil {
			return err
		}
		items = append(others, item)
		slices.Sort(items)
		items = slices.Compact(items)
	}
	return b.bookItems(ctx, use, day, items, from)
}
