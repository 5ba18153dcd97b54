package main

import (
	"context"
	"encoding/json"
	"math/big"
	"time"

	"netsim/rating/slowbill"
)

// book has what the costs of an account's items of a rate on a day are computed from, and
// the costs that were booked.
type book struct {
	Account, Rate, Day string
	Rates              []struct {
		ID, TierStart, TierEnd, PackageSize int64
		Type, Amount, Period, Minimum       string
	}
	Changes []struct {
		Item, Units int64
		At          time.Time
		Closes      bool
	}
	Costs []struct {
		Item, Rate int64
		Cost       string
	}
}

// books selects every book. Costs are booked when an item ends, and after the day.
const books = `SELECT coalesce(json_agg(json_build_object('account', k.account_id, 'rate', k.rate_name, 'day', k.day,
	'rates', (SELECT coalesce(json_agg(json_build_object('id', id, 'tierStart', tier_start, 'tierEnd', tier_end, 'packageSize', package_size,
		'type', rate_type, 'amount', amount, 'period', period, 'minimum', minimum_period) ORDER BY tier_start), '[]') FROM readmodel.rates
		WHERE rate_name = k.rate_name AND account_id IN ('', k.account_id) AND start_date <= k.day AND (end_date = '' OR end_date > k.day)),
	'changes', (SELECT json_agg(json_build_object('item', item_id, 'units', current_count, 'at', occurred_at, 'closes', event_action = 'stop') ORDER BY sequence)
		FROM readmodel.billing_events WHERE account_id = k.account_id AND rate_name = k.rate_name),
	'costs', (SELECT coalesce(json_agg(json_build_object('item', item_id, 'rate', rate_id, 'cost', cost)), '[]') FROM readmodel.daily_costs
		WHERE account_id = k.account_id AND rate_name = k.rate_name AND date = k.day AND correction_of = 0))), '[]')::text
	FROM (SELECT DISTINCT account_id, rate_name, to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day FROM readmodel.billing_events) k`

// checkBooks compares the costs of the items that have ended with the slow model. An item
// that is active has no costs of today yet.
func (c *campaign) checkBooks(ctx context.Context) error {
	var text string
	if err := c.cluster.Query(ctx, books, &text); err != nil {
		return err
	}
	var all []book
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return err
	}
	for _, b := range all {
		if err := c.checkBook(b); err != nil {
			return err
		}
	}
	return nil
}

func (c *campaign) checkBook(b book) error {
	day, err := time.Parse(time.DateOnly, b.Day)
	if err != nil {
		return err
	}
	var rates []slowbill.Rate
	for _, r := range b.Rates {
		rates = append(rates, slowbill.Rate{
			ID: r.ID, Type: r.Type, Amount: r.Amount, Period: r.Period, Minimum: r.Minimum,
			TierStart: r.TierStart, TierEnd: r.TierEnd, PackageSize: r.PackageSize,
		})
	}
	changes := map[int64][]slowbill.Change{} // by item
	closed := map[int64]bool{}
	for _, u := range b.Changes {
		changes[u.Item] = append(changes[u.Item], slowbill.Change{Item: u.Item, At: u.At, Units: u.Units, Closes: u.Closes})
		closed[u.Item] = closed[u.Item] || u.Closes
	}
	if !slowbill.Alone(rates) {
		c.report.Shared += len(b.Costs)
		return nil // the costs of an item change until the day is over
	}
	booked := map[slowbill.Key]string{}
	for _, cost := range b.Costs {
		booked[slowbill.Key{Item: cost.Item, Rate: cost.Rate}] = cost.Cost
	}
	for item := range closed {
		if !closed[item] {
			continue
		}
		// An item is rated with its changes alone: the model takes the square of their number.
		for key, cost := range slowbill.Day(day, rates, changes[item]) {
			got, found := new(big.Rat).SetString(booked[key])
			if !found || got.Cmp(cost) != 0 {
				c.violate("item %d of %s costs %q on %s at rate %d, and %s by the slow model", key.Item, b.Account, booked[key], b.Day, key.Rate, slowbill.Exact(cost))
			}
			c.report.Lines++
		}
	}
	return nil
}
