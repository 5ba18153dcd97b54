package audit

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"netsim/events"
	"netsim/rating"
)

// Rated is the result of rating every day again.
type Rated struct {
	Days    int64  // rated rows that are booked with the same result
	Pending int64  // rows that the accrual, or the booking of a late event, will still change
	Unrated int64  // rated rows of settled days that are not booked
	First   string // the first unrated row
}

// add adds the result of other accounts.
func (r *Rated) add(more Rated) {
	r.Days, r.Pending, r.Unrated = r.Days+more.Days, r.Pending+more.Pending, r.Unrated+more.Unrated
	if r.First == "" {
		r.First = more.First
	}
}

// rerate rates every day of every account again, up to the day of now, and
// compares the rows with the costs in the log.
//
// A booked row, with its corrections, must be what rating gives for all billing
// events and rates. A row is pending if it was right when it was booked, and all
// events after its booking were recorded since settled: a reaction or the nightly
// accrual will book it again. A rated row of a settled day that is not booked is
// counted, but is not a finding: an accrual was missed, or there was no rate then.
func (b *books) rerate(now, settled time.Time) Rated {
	var out Rated
	for _, id := range slices.Sorted(maps.Keys(b.accounts)) {
		a := b.accounts[id]
		for _, name := range slices.Sorted(maps.Keys(a.names)) {
			r := rerating{books: b, account: a, name: name, now: now, settled: settled, out: &out}
			r.days(a.names[name])
		}
		for _, number := range slices.Sorted(maps.Keys(a.items)) {
			i := a.items[number]
			for _, c := range i.costs {
				switch {
				case c.judged || rating.Equal(b.net(c), "0"):
				case touched([]*item{i}, c, settled):
					out.Pending++
				default:
					b.find(c.at, "%s costs %s, by its events it costs nothing", c.name(), b.net(c))
				}
			}
		}
	}
	return out
}

// rerating rates the items of one account and rate name again.
type rerating struct {
	books   *books
	account *account
	name    string
	now     time.Time
	settled time.Time
	out     *Rated

	items    []*item                // the items that count on the day
	together []events.UsageRecorded // buffer for the events of items that are rated together
}

// days rates each day from the first start on, with the items that can affect
// it.
func (r *rerating) days(items []*item) {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b *item) int { return a.opened().OccurredAt.Compare(b.opened().OccurredAt) })
	var active []*item
	day, started := dayOf(items[0].opened().OccurredAt), 0
	last := dayOf(r.now)
	for ; !day.After(last); day = day.AddDate(0, 0, 1) {
		next := day.AddDate(0, 0, 1)
		for ; started < len(items) && items[started].opened().OccurredAt.Before(next); started++ {
			active = append(active, items[started])
		}
		price, err := r.books.price(r.account.id, r.name, day)
		if err != nil {
			r.books.find(Where{Stream: r.account.id}, "the rates of %s on %s: %v", r.name, day.Format(time.DateOnly), err)
			continue
		}
		r.day(day, price, active)
		if started == len(items) && len(active) == 0 {
			return
		}
		// An item that has ended still counts in its month.
		month := time.Date(next.Year(), next.Month(), 1, 0, 0, 0, 0, time.UTC)
		active = slices.DeleteFunc(active, func(i *item) bool { return !i.ended.IsZero() && i.ended.Before(month) })
	}
}

func (r *rerating) day(day time.Time, price rating.Price, active []*item) {
	if len(price) == 0 {
		return
	}
	window, _ := price.Window(day)
	r.items = r.items[:0]
	for _, i := range active {
		if i.ended.IsZero() || !i.ended.Before(window) {
			r.items = append(r.items, i)
		}
	}
	if !price.Alone() && len(r.items) > 0 {
		r.compare(day, price, r.items)
		return
	}
	for n := range r.items {
		r.compare(day, price, r.items[n:n+1])
	}
}

// compare rates a day of items that are rated together, and compares the rows
// with the booked ones.
func (r *rerating) compare(day time.Time, price rating.Price, items []*item) {
	usage := items[0].usage
	if len(items) > 1 {
		r.together = usageOf(r.together[:0], items, math.MaxInt64)
		usage = r.together
	}
	rows := rating.Day(day, price, usage, r.rules(day))
	for i := range rows {
		row := &rows[i]
		i := r.account.items[row.BillingItemID]
		c := i.cost(row.Date, row.RateID)
		if c == nil {
			if !day.Before(r.settled) {
				continue // its accrual is still due
			}
			if r.out.Unrated++; r.out.First == "" {
				r.out.First = nameOf(row)
			}
			continue
		}
		c.judged = true
		if what, want, got := r.books.differs(c, row); what == "" || what != "cost" && r.explained(day, price, items, c) {
			r.out.Days++
		} else if r.pending(day, price, items, c) {
			r.out.Pending++
		} else {
			r.books.find(c.at, "%s: %s is %s, by its events %s", c.name(), what, got, want)
		}
	}
}

// rules returns the rule by which each item is rated on a day: the one that its
// booked rows of the day name, or else the newest.
func (r *rerating) rules(day time.Time) rating.RuleOf {
	date := day.Format(time.DateOnly)
	return func(item int64) string { return r.account.items[item].rule(date) }
}

// touched reports whether the items have events after the booking of a row, and
// all of these were recorded since settled.
func touched(items []*item, c *cost, settled time.Time) (after bool) {
	for _, i := range items {
		for _, u := range i.at {
			if u.sequence < c.booked() {
				continue
			}
			if u.recorded.Before(settled) {
				return false
			}
			after = true
		}
	}
	return after
}

// booked returns the sequence of the event that booked a row or corrected it
// last.
func (c *cost) booked() int64 {
	if n := len(c.fixes); n > 0 {
		return c.fixes[n-1].sequence
	}
	return c.sequence
}

// pending reports whether a row was right when it was booked and differs only
// because of events that were recorded since settled. A day that is not settled is
// pending when items are rated together: the accrual decides what each costs.
func (r *rerating) pending(day time.Time, price rating.Price, items []*item, c *cost) bool {
	if !price.Alone() && !day.Before(r.settled) {
		return true
	}
	return touched(items, c, r.settled) && r.explained(day, price, items, c)
}

// explained reports whether a row is what rating gives for the events before its
// booking. In a closed month such a row stays as it is if later events change its
// units but not its cost, because there is no correction of zero.
func (r *rerating) explained(day time.Time, price rating.Price, items []*item, c *cost) bool {
	for _, row := range rating.Day(day, price, usageOf(nil, items, c.booked()), r.rules(day)) {
		if row.BillingItemID == c.BillingItemID && row.RateID == c.RateID {
			what, _, _ := r.books.differs(c, &row)
			return what == ""
		}
	}
	return false
}

// usageOf appends the billing events of items before a sequence.
func usageOf(to []events.UsageRecorded, items []*item, before int64) []events.UsageRecorded {
	for _, i := range items {
		for n := range i.usage {
			if i.at[n].sequence < before {
				to = append(to, i.usage[n])
			}
		}
	}
	return to
}

// price returns the price on a day. Accounts without rates of their own share it.
func (b *books) price(account, rateName string, day time.Time) (rating.Price, error) {
	own := slices.ContainsFunc(b.rates, func(r events.RateSet) bool { return r.AccountID == account && r.RateName == rateName })
	key := priceKey{"", rateName, day.Unix()}
	if own {
		key.account = account
	}
	price, known := b.prices[key]
	if known {
		return price, nil
	}
	price, err := rating.PriceOn(day, key.account, rateName, b.rates)
	b.prices[key] = price
	return price, err
}

func (c *cost) name() string { return nameOf(&c.DailyCostRated) }

func nameOf(d *events.DailyCostRated) string {
	name := "item " + strconv.FormatInt(d.BillingItemID, 10) + " on " + d.Date + " at rate " + strconv.FormatInt(d.RateID, 10)
	if d.DailyCostID != 0 {
		name = "daily cost " + strconv.FormatInt(d.DailyCostID, 10) + " of " + name
	}
	return name
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
