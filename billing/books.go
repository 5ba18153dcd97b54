package billing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
	"netsim/rating"
)

const (
	ratedPage    = 2048 // items that are rated together, and costs that wait for their verdicts at a time
	pagesAtATime = 8    // of a night: some are read while others wait
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
	from  handle.Origin
}

// bookItems books a day of items, whose ids are in order.
func (b *Books) bookItems(ctx context.Context, use projections.Metered, day time.Time, items []int64, from handle.Origin) error {
	pages, err := b.pages(ctx, use, day, items, from)
	for _, page := range pages {
		if err := b.bookDay(ctx, page); err != nil {
			return err
		}
	}
	return err
}

// pages cuts a day of items, whose ids are in order, into what is rated
// together: all of them where the price of an item depends on the others.
func (b *Books) pages(ctx context.Context, use projections.Metered, day time.Time, items []int64, from handle.Origin) ([]*dayBook, error) {
	price, err := b.priceOn(ctx, use, day)
	if err != nil {
		return nil, err
	}
	size := ratedPage
	if !price.Alone() {
		size = max(len(items), 1)
	}
	var pages []*dayBook
	for page := range slices.Chunk(items, size) {
		pages = append(pages, &dayBook{use, day, price, page, from})
	}
	return pages, nil
}

// bookDay books until rows and usage agree.
func (b *Books) bookDay(ctx context.Context, d *dayBook) error {
	for range bookedRounds {
		booked, err := projections.BookedCosts(ctx, b.DB, d.day.Format(time.DateOnly), d.items)
		if err != nil {
			return err
		}
		rows, err := b.rate(ctx, d, booked)
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

// rate returns the rows of the items for the day. What is booked by an older
// rule stays with it.
func (b *Books) rate(ctx context.Context, d *dayBook, booked []projections.BookedCost) (rows []events.DailyCostRated, err error) {
	var usage []events.UsageRecorded
	if d.price.Alone() {
		usage, err = projections.UsageOf(ctx, b.DB, d.items)
	} else {
		begin, end := d.price.Window(d.day)
		usage, err = projections.UsageBetween(ctx, b.DB, d.use, begin, end)
	}
	if err != nil {
		return nil, err
	}
	rules := map[int64]string{}
	for _, row := range booked {
		rules[row.BillingItemID] = row.EngineVersion
	}
	rule := func(item int64) string { return rules[item] }
	return slices.DeleteFunc(rating.Day(d.day, d.price, usage, rule), func(r events.DailyCostRated) bool {
		_, wanted := slices.BinarySearch(d.items, r.BillingItemID)
		return !wanted
	}), nil
}

// enter writes the entries to the account's stream. It reports whether the
// place of one was taken.
func (b *Books) enter(ctx context.Context, d *dayBook, entries []entry) (gaveWay bool, err error) {
	ids, err := DailyCostIDs.Next(ctx, b.DB, len(entries))
	if err != nil {
		return false, err
	}
	sent := make([]handle.Sent[commands.Account], len(entries))
	for i, e := range entries {
		e.cost.DailyCostID = ids[i]
		sent[i].From, sent[i].Command = d.from, commands.RecordDailyCost{Rated: e.cost}
		sent[i].From.CommandID = e.commandID
	}
	to := handle.Target{Stream: d.use.AccountID, PartitionKey: d.use.AccountID}
	for some := range slices.Chunk(sent, ratedPage) {
		results, err := handle.All(ctx, b.Commands, to, some)
		if err != nil {
			return false, err
		}
		gaveWay = gaveWay || slices.ContainsFunc(results, func(r handle.Result) bool { return r.Repeated })
	}
	return gaveWay, nil
}

// priceOn returns what applies to a use on a day.
func (b *Books) priceOn(ctx context.Context, use projections.Metered, day time.Time) (rating.Price, error) {
	list, err := projections.RatesOf(ctx, b.DB, use)
	if err != nil {
		return nil, err
	}
	return rating.PriceOn(day, use.AccountID, use.RateName, list)
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
