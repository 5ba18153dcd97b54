package rating

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/apd/v3"

	"netsim/events"
)

// The periods of a rate's amount. All but the year can be minimum periods too.
const (
	PerHour  = "hour"
	PerDay   = "day"
	PerMonth = "month"
	PerYear  = "year"
)

// Rate is a row of the price list that Check has accepted.
type Rate struct {
	events.RateSet
	model      Model
	start, end int64 // units that it prices, half-open
	amount     *apd.Decimal
	day        time.Time    // the day of PriceOn
	price      *apd.Decimal // of one unit on that day
	text       string       // price, as plain writes it
}

// maxRateDecimals keeps the costs of Rule1 within 18 decimals: that rule multiplies
// the price of a day by a part of the day with 6 decimals.
const maxRateDecimals = 12

// Check returns the row as a rate, or an error that says what is wrong with it.
func Check(row events.RateSet) (Rate, error) {
	amount, err := Parse(row.Amount)
	if err != nil {
		return Rate{}, fmt.Errorf("rate %s: amount %w", row.RateName, err)
	}
	model, err := ModelOf(row.RateType)
	switch {
	case amount.Negative || amount.Exponent < -maxRateDecimals:
		return Rate{}, fmt.Errorf("rate %s: amount %s must be at least 0 and have at most %d decimals", row.RateName, row.Amount, maxRateDecimals)
	case err != nil:
		return Rate{}, fmt.Errorf("rate %s: %w", row.RateName, err)
	case !slices.Contains([]string{PerHour, PerDay, PerMonth, PerYear}, row.Period):
		return Rate{}, fmt.Errorf("rate %s: there is no period %q", row.RateName, row.Period)
	case !slices.Contains([]string{"", PerHour, PerDay, PerMonth}, row.MinimumPeriod):
		return Rate{}, fmt.Errorf("rate %s: there is no minimum period %q", row.RateName, row.MinimumPeriod)
	case row.TierStart < 0 || row.TierEnd != 0 && row.TierEnd <= row.TierStart:
		return Rate{}, fmt.Errorf("rate %s: tier %d to %d is empty", row.RateName, row.TierStart, row.TierEnd)
	case model.Packaged && row.PackageSize < 1:
		return Rate{}, fmt.Errorf("rate %s: packageSize %d is below 1", row.RateName, row.PackageSize)
	}
	start, end := unitsOf(row)
	return Rate{RateSet: row, model: model, start: start, end: end, amount: amount}, nil
}

// Price is the rates that apply together on a day, by tier.
type Price []Rate

// PriceOn returns the rates of a price list that apply to an account's rate name
// on a day. Rows of the account replace those of the platform. Of overlapping
// rows, the one recorded last applies.
func PriceOn(day time.Time, account, rateName string, list []events.RateSet) (Price, error) {
	own, common := Price{}, Price{}
	date := day.Format(time.DateOnly)
	for _, row := range slices.SortedFunc(slices.Values(list), latestFirst) {
		if row.RateName != rateName || !ValidOn(row, date) {
			continue
		}
		rate, err := Check(row)
		if err != nil {
			return nil, err
		}
		switch row.AccountID {
		case account:
			own = own.with(rate)
		case "":
			common = common.with(rate)
		}
	}
	if len(own) == 0 {
		own = common
	}
	slices.SortFunc(own, func(a, b Rate) int { return cmp.Compare(a.TierStart, b.TierStart) })
	for i := range own {
		price := own[i].dayPrice(day) // once, for all items
		own[i].day, own[i].price, own[i].text = day, price, plain(price)
	}
	return own, nil
}

func latestFirst(a, b events.RateSet) int { return cmp.Compare(b.RateID, a.RateID) }

// with adds a rate unless a newer one prices some of its units.
func (p Price) with(r Rate) Price {
	if slices.ContainsFunc(p, func(newer Rate) bool { return Overlap(newer.RateSet, r.RateSet) }) {
		return p
	}
	return append(p, r)
}

// Alone reports whether the price of an item does not depend on the account's
// other items.
func (p Price) Alone() bool {
	return !slices.ContainsFunc(p, func(r Rate) bool { return !r.model.Alone })
}

// Window returns the period whose usage Day needs: the day, and, with a minimum
// period of a month, the month up to it.
func (p Price) Window(day time.Time) (from, to time.Time) {
	from = day
	for _, r := range p {
		if r.MinimumPeriod == PerMonth {
			from = firstOfMonth(day)
		}
	}
	return from, day.AddDate(0, 0, 1)
}

// OneHour returns an estimate of what units cost in an hour of the day if the
// account has no others, and its currency. For a period longer than an hour, the
// hourly price is rounded to 12 decimals. An empty price gives "0" and no currency.
func (p Price) OneHour(day time.Time, units int64) (amount, currency string) {
	sum := newDecimal(0, 0)
	for _, r := range p {
		hourly := r.amount
		if r.Period != PerHour {
			hourly = share(r.dayPrice(day), 1, 24)
		}
		sum = add(sum, Times(hourly, newDecimal(r.model.due(&r, 0, units, units), 0)))
		currency = r.Currency
	}
	return plain(sum), currency
}

// OfHour returns what a time costs at an hourly price, rounded half to even at 12 decimals.
// Parts of a millisecond do not count.
func OfHour(hourly string, d time.Duration) (string, error) {
	price, err := Parse(hourly)
	if err != nil {
		return "", err
	}
	return plain(share(Times(price, newDecimal(d.Milliseconds(), -3)), 1, 3600)), nil
}

// Lasts returns how long an amount lasts at an hourly price, to the millisecond: below 0 for an
// amount below 0, and a century if it is free.
func Lasts(amount, hourly string) (time.Duration, error) {
	const century = 100 * 365 * 24 * time.Hour
	left, err := Parse(amount)
	if err != nil {
		return 0, err
	}
	price, err := Parse(hourly)
	if err != nil {
		return 0, err
	}
	switch {
	case price.IsZero() && left.Sign() < 0:
		return -time.Millisecond, nil
	case price.IsZero():
		return century, nil
	}
	c := apd.BaseContext.WithPrecision(60)
	ms := new(apd.Decimal)
	_, _ = c.Quo(ms, Times(left, newDecimal(3_600_000, 0)), price)
	_, _ = c.Quantize(ms, ms, 0)
	n, err := ms.Int64()
	if err != nil || n > century.Milliseconds() {
		return century, nil //nolint:nilerr // more milliseconds than an int64 has
	}
	if n == 0 && left.Sign() != 0 {
		n = int64(left.Sign())
	}
	return time.Duration(n) * time.Millisecond, nil
}

// dayPrice returns the price of the day (completions 7.4 step 2).
func (r Rate) dayPrice(day time.Time) *apd.Decimal {
	if r.price != nil && r.day.Equal(day) {
		return r.price
	}
	switch k, n := r.dayOfPeriod(day); r.Period {
	case PerHour:
		return Times(r.amount, newDecimal(24, 0))
	case PerDay:
		return r.amount
	default:
		return sub(share(r.amount, k, n), share(r.amount, k-1, n))
	}
}

// priceOfDaysAfter returns the sum of the prices of the days that follow the day
// in its month.
func (r Rate) priceOfDaysAfter(day time.Time, days int64) *apd.Decimal {
	switch k, n := r.dayOfPeriod(day); r.Period {
	case PerHour, PerDay:
		return Times(r.dayPrice(day), newDecimal(days, 0))
	default:
		return sub(share(r.amount, k+days, n), share(r.amount, k, n))
	}
}

// dayOfPeriod returns k and n: the day is the k-th of the n days of its period.
func (r Rate) dayOfPeriod(day time.Time) (k, n int64) {
	if r.Period == PerYear {
		return int64(day.YearDay()), int64(time.Date(day.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay())
	}
	return int64(day.Day()), int64(firstOfMonth(day).AddDate(0, 1, -1).Day())
}

func firstOfMonth(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
}
