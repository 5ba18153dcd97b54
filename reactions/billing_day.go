package reactions

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
	"netsim/rating"
)

const (
	ratedPage    = 2048 // items that are rated together, and costs that wait for their verdicts at a time
	pagesAtATime = 3    // so that one is read while others wait
	bookedRounds = 50   // how often a booking gives way to others of the same rows
)

// dayBook books a day of some items of an account and rate name.
//
// Two bookings of a row may meet: the night's, and that of an event which came
// late. What makes them agree is that a row is read before the usage that it is
// rated by, and that what follows on a row can be booked once (entry). So a
// booking that did not see an event either comes first, and is amended by the
// one that did, or finds its place taken, and looks again.
type dayBook struct {
	use   projections.Metered
	day   time.Time
	price rating.Price
	items []int64 // ids, in order
	from  commands.Origin
}

// bookItems books a day of items, whose ids are in order.
func (b *Billing) bookItems(ctx context.Context, use projections.Metered, day time.Time, items []int64, from commands.Origin) error {
	price, err := b.priceOn(ctx, use, day)
	if err != nil || len(items) == 0 {
		return err
	}
	size := ratedPage
	if !price.Alone() {
		size = len(items) // all are rated together
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(pagesAtATime)
	for page := range slices.Chunk(items, size) {
		group.Go(func() error { return b.bookDay(ctx, &dayBook{use, day, price, page, from}) })
	}
	return group.Wait()
}

// bookDay books until rows and usage agree.
func (b *Billing) bookDay(ctx context.Context, d *dayBook) error {
	for range bookedRounds {
		booked, err := projections.BookedCosts(ctx, b.DB, d.day.Format(time.DateOnly), d.items)
		if err != nil {
			return err
		}
		rows, err := b.rate(ctx, d)
		if err != nil {
			return err
		}
		entries, err := reconcile(d.day, b.Now().UTC(), rows, booked)
		if err != nil || len(entries) == 0 {
			return err
		}
		if gaveWay, err := b.enter(ctx, d, entries); err != nil || !gaveWay {
			return err
		}
	}
	return fmt.Errorf("the costs of %s on %s are being booked by too many", d.use.AccountID, d.day.Format(time.DateOnly))
}

// rate returns the rows of the items for the day.
func (b *Billing) rate(ctx context.Context, d *dayBook) ([]events.DailyCostRated, error) {
	items := d.items
	if !d.price.Alone() {
		items = nil // of all
	}
	begin, end := d.price.Window(d.day)
	usage, err := projections.UsageBetween(ctx, b.DB, d.use, begin, end, items)
	if err != nil {
		return nil, err
	}
	rows := rating.Day(d.day, d.price, usage)
	return slices.DeleteFunc(rows, func(r events.DailyCostRated) bool {
		_, wanted := slices.BinarySearch(d.items, r.BillingItemID)
		return !wanted
	}), nil
}

// enter writes the entries to the account's stream. It reports whether the
// place of one was taken.
func (b *Billing) enter(ctx context.Context, d *dayBook, entries []entry) (bool, error) {
	ids, err := projections.DailyCostIDs.Next(ctx, b.DB, len(entries))
	if err != nil {
		return false, err
	}
	var gaveWay atomic.Bool
	to := commands.Target{Stream: d.use.AccountID, PartitionKey: d.use.AccountID}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(ratedPage)
	for i, e := range entries {
		e.cost.DailyCostID = ids[i]
		from := d.from
		from.CommandID = e.commandID
		group.Go(func() error {
			result, err := commands.Handle(ctx, b.Commands, to, from, commands.RecordDailyCost{Rated: e.cost})
			if result.Repeated {
				gaveWay.Store(true)
			}
			return err
		})
	}
	err = group.Wait()
	return gaveWay.Load(), err
}

// priceOn returns what applies to a use on a day.
func (b *Billing) priceOn(ctx context.Context, use projections.Metered, day time.Time) (rating.Price, error) {
	list, err := projections.RatesOf(ctx, b.DB, use)
	if err != nil {
		return nil, err
	}
	return rating.PriceOn(day, use.AccountID, use.RateName, list)
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
