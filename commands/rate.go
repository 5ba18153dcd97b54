package commands

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"netsim/events"
	"netsim/rating"
)

// CheckRate returns an error for a row of the price list without a name or unit,
// or with an invalid amount, model, period, tier, currency or date.
func CheckRate(r events.RateSet) error {
	if r.RateName == "" {
		return errors.New("a rateName is required")
	}
	if _, err := rating.Check(r); err != nil {
		return err
	}
	if _, err := time.Parse(time.DateOnly, r.StartDate); err != nil {
		return fmt.Errorf("rate %s: startDate %q is not a date", r.RateName, r.StartDate)
	}
	if _, err := time.Parse(time.DateOnly, r.EndDate); r.EndDate != "" && (err != nil || r.EndDate <= r.StartDate) {
		return fmt.Errorf("rate %s: endDate %q is not a date after %s", r.RateName, r.EndDate, r.StartDate)
	}
	if n, err := strconv.ParseInt(r.UnitSize, 10, 64); err != nil || n < 1 || r.UnitName == "" {
		return fmt.Errorf("rate %s: a unitName and a whole unitSize are required, got %q and %q", r.RateName, r.UnitName, r.UnitSize)
	}
	return rating.CheckCurrency(r.Currency)
}

// tomorrow returns the date of the next UTC day, the first whose price can change.
func tomorrow(now time.Time) string { return now.UTC().AddDate(0, 0, 1).Format(time.DateOnly) }
