package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
)

// missedNights is how many days a night looks back where none is known to have
// been.
const missedNights = 31

// bookClosed books the days of a closed item that have no cost yet, the last
// one that has included: an earlier run may have stopped within it.
func (b *Books) bookClosed(ctx context.Context, f events.Fact, item *projections.BillingItem) error {
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
// The days of nights that were missed are booked before it.
func (b *Books) AccrueDay(ctx context.Context, date time.Time) error {
	day := dayOf(date)
	if b.Now().Before(day.AddDate(0, 0, 1)) {
		return fmt.Errorf("accrue %s: the day is not over", day.Format(time.DateOnly))
	}
	first, err := b.firstMissed(ctx, day)
	if err != nil {
		return err
	}
	for ; !first.After(day); first = first.AddDate(0, 0, 1) {
		if err := b.accrue(ctx, first); err != nil {
			return err
		}
	}
	return NoteAccrued(ctx, b.DB, day)
}

// firstMissed returns the first day, up to this one, that no night has booked.
// Where no night is known it is that of the first item, or some days ago.
func (b *Books) firstMissed(ctx context.Context, day time.Time) (first time.Time, err error) {
	through, err := AccruedThrough(ctx, b.DB)
	if err != nil {
		return first, err
	}
	first = through.AddDate(0, 0, 1)
	if through.IsZero() {
		start, err := projections.FirstStart(ctx, b.DB)
		if err != nil {
			return first, err
		}
		if first = day.AddDate(0, 0, -missedNights); first.Before(start) {
			first = dayOf(start)
		}
	}
	if first.After(day) {
		first = day
	}
	return first, nil
}

// accrue books a day of all items: several pages at a time, of whichever
// accounts, so that the log and the read model always have something to do.
func (b *Books) accrue(ctx context.Context, day time.Time) error {
	next := day.AddDate(0, 0, 1)
	uses, err := projections.MeteredBetween(ctx, b.DB, day, next)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(pagesAtATime)
	for _, use := range uses {
		if err := b.accrueUse(ctx, group, use, day); err != nil {
			return errors.Join(err, group.Wait())
		}
	}
	return group.Wait()
}

func (b *Books) accrueUse(ctx context.Context, group *errgroup.Group, use projections.Metered, day time.Time) error {
	items, err := projections.ItemsBetween(ctx, b.DB, use, day, day.AddDate(0, 0, 1))
	if err != nil {
		return err
	}
	pages, err := b.pages(ctx, use, day, items, handle.Origin{Actor: events.System})
	for _, page := range pages {
		group.Go(func() error {
			if err := b.bookDay(ctx, page); err != nil {
				return fmt.Errorf("accrue %s of %s on %s: %w", use.RateName, use.AccountID, day.Format(time.DateOnly), err)
			}
			return nil
		})
	}
	return err
}

// bookLate books anew what the billing events that a fact caused change of days
// that are over: of the item alone, or, where the price of an item depends on
// the others, of all of them. An event counts as late when the log has it from
// after its day: then the night of that day may have gone by without it.
func (b *Books) bookLate(ctx context.Context, f events.Fact) error {
	today := dayOf(b.Now())
	if !dayOf(f.Time).Before(today) {
		return nil // the night is still to come
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
			if err := b.bookTouched(ctx, use, day, e.BillingItemID, causedBy(f)); err != nil {
				return fmt.Errorf("book %s again: %w", day.Format(time.DateOnly), err)
			}
		}
	}
	return nil
}

// bookTouched books the items whose costs of a day a change of one item can
// have changed. The item itself is one of them also where it is not active.
func (b *Books) bookTouched(ctx context.Context, use projections.Metered, day time.Time, item int64, from handle.Origin) error {
	price, err := b.priceOn(ctx, use, day)
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
