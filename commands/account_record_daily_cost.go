package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/rating"
)

// RecordDailyCost books what an item costs on a day at one rate: the first
// version of the row, a later one, or a correction. Its command id names the
// row's next entry, so only one of two writers books it.
type RecordDailyCost struct{ Rated events.DailyCostRated }

// Decide implements Command.
func (c RecordDailyCost) Decide(*Account, time.Time) (events.Data, error) {
	r := c.Rated
	invalid := func(format string, args ...any) (events.Data, error) {
		return nil, fault.New(fault.Internal, "daily cost %d: "+format, append([]any{r.DailyCostID}, args...)...)
	}
	cost, err := rating.Parse(r.Cost)
	if err != nil {
		return invalid("cost: %v", err)
	}
	if cost.Sign() < 0 && r.CorrectionOf == 0 {
		return invalid("cost %s is below 0, which only a correction can be", r.Cost)
	}
	if err := rating.CheckCurrency(r.Currency); err != nil {
		return invalid("%v", err)
	}
	if _, err := time.Parse(time.DateOnly, r.Date); err != nil {
		return invalid("date %q is not a date", r.Date)
	}
	switch {
	case r.Version < 1:
		return invalid("version %d is below 1", r.Version)
	case r.Version == 1 && r.PreviousCost != "":
		return invalid("version 1 has a previous cost, %s", r.PreviousCost)
	case r.Version > 1:
		if _, err := rating.Parse(r.PreviousCost); err != nil {
			return invalid("previous cost: %v", err)
		}
	}
	return r, nil
}
