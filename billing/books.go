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

// Books keeps the daily costs. It rates the days of items and books the
// difference from what is booked already (docs/rating.md). AccrueDay does so for
// all items each night; Metering does so for items that close, and for usage that
// becomes known after its day.
type Books struct {
	Commands *handle.Handler
	DB       projections.Reader
	Now      func() time.Time
}

const (
	batchSize    = 2048 // items that are rated together, and costs that are written together
	maxConflicts = 50   // how often a batch is rated again because other writers booked the same rows
)

// dayBatch is a day of items of one account and rate name that are rated together.
type dayBatch struct {
	use   projections.Metered
	day   time.Time // its UTC midnight
	price rating.Price
	items []int64 // ids, ascending
	from  handle.Origin

	assumed []events.UsageRecorded // counts as usage beside what is recorded
}

// bookItems books a day for items, whose ids ascend.
func (b *Books) bookItems(ctx context.Context, use projections.Metered, day time.Time, items []int64, from handle.Origin) error {
	batches, err := b.batches(ctx, use, day, items, from)
	for _, batch := range batches {
		if err := b.book(ctx, batch); err != nil {
			return err
		}
	}
	return err
}

// batches splits the items to book for a day into batches. The ids ascend. If the
// price of an item depends on the others, there is one batch.
func (b *Books) batches(ctx context.Context, use projections.Metered, day time.Time, items []int64, from handle.Origin) ([]*dayBatch, error) {
	price, err := priceOn(ctx, b.DB, use, day)
	if err != nil {
		return nil, err
	}
	size := batchSize
	if !price.Alone() {
		size = max(len(items), 1)
	}
	var batches []*dayBatch
	for some := range slices.Chunk(items, size) {
		batches = append(batches, &dayBatch{use: use, day: day, price: price, items: some, from: from})
	}
	return batches, nil
}

// book books a batch until its booked costs equal its rated costs.
//
// Two writers can book the same row: the nightly accrual, and the reaction to
// late usage. Both read the booked rows before the usage, and each row accepts
// one next entry (see entry). So the writer that read less usage either writes
// first and is amended by the other, or loses the row to the other and rates
// again.
func (b *Books) book(ctx context.Context, batch *dayBatch) error {
	for range maxConflicts {
		booked, err := projections.BookedCosts(ctx, b.DB, batch.day.Format(time.DateOnly), batch.items)
		if err != nil {
			return err
		}
		rated, err := b.rate(ctx, batch, booked)
		if err != nil {
			return err
		}
		entries, err := reconcile(batch.day, b.Now().UTC(), rated, booked)
		if err != nil || len(entries) == 0 {
			return err
		}
		if conflict, err := b.write(ctx, batch, entries); err != nil || !conflict {
			return err
		}
	}
	return fmt.Errorf("book %s of %s on %s: other writers booked the same rows %d times",
		batch.use.RateName, batch.use.AccountID, batch.day.Format(time.DateOnly), maxConflicts)
}

// rate returns the costs of the batch. An item that is booked is rated by the
// rule version that booked it.
func (b *Books) rate(ctx context.Context, batch *dayBatch, booked []projections.BookedCost) (rated []events.DailyCostRated, err error) {
	var usage []events.UsageRecorded
	if batch.price.Alone() {
		usage, err = projections.UsageOf(ctx, b.DB, batch.items)
	} else {
		begin, end := batch.price.Window(batch.day)
		usage, err = projections.UsageBetween(ctx, b.DB, batch.use, begin, end)
	}
	if err != nil {
		return nil, err
	}
	usage = append(usage, batch.assumed...)
	rules := map[int64]string{}
	for _, row := range booked {
		rules[row.BillingItemID] = row.EngineVersion
	}
	rule := func(item int64) string { return rules[item] }
	return slices.DeleteFunc(rating.Day(batch.day, batch.price, usage, rule), func(r events.DailyCostRated) bool {
		_, wanted := slices.BinarySearch(batch.items, r.BillingItemID)
		return !wanted
	}), nil
}

// write writes the entries to the account's stream. It reports whether another
// writer had booked one of the rows.
func (b *Books) write(ctx context.Context, batch *dayBatch, entries []entry) (conflict bool, err error) {
	ids, err := DailyCostIDs.Next(ctx, b.DB, len(entries))
	if err != nil {
		return false, err
	}
	sent := make([]handle.Sent[commands.Account], len(entries))
	for i, e := range entries {
		e.cost.DailyCostID = ids[i]
		sent[i].From, sent[i].Command = batch.from, commands.RecordDailyCost{Rated: e.cost}
		sent[i].From.CommandID = e.commandID
	}
	to := handle.Target{Stream: batch.use.AccountID, PartitionKey: batch.use.AccountID}
	for some := range slices.Chunk(sent, batchSize) {
		results, err := handle.All(ctx, b.Commands, to, some)
		if err != nil {
			return false, err
		}
		conflict = conflict || slices.ContainsFunc(results, func(r handle.Result) bool { return r.Repeated })
	}
	return conflict, nil
}

// priceOn returns the rates that apply to a use on a day.
func priceOn(ctx context.Context, db projections.Reader, use projections.Metered, day time.Time) (rating.Price, error) {
	list, err := projections.RatesOf(ctx, db, use)
	if err != nil {
		return nil, err
	}
	return rating.PriceOn(day, use.AccountID, use.RateName, list)
}
