package prices

import (
	"cmp"
	"fmt"
	"slices"

	"netsim/events"
	"netsim/rating"
)

// listed is a row of a list with its number, from 1 on.
type listed struct {
	row int
	events.RateSet
}

// covered returns an error for a list in which, on some day, some units of a rate
// name have two prices or none.
func covered(rates []events.RateSet) error {
	groups := map[[2]string][]listed{}
	for i, r := range rates {
		key := [2]string{r.AccountID, r.RateName}
		groups[key] = append(groups[key], listed{i + 1, r})
	}
	for i, r := range rates {
		rows := groups[[2]string{r.AccountID, r.RateName}]
		if rows[0].row != i+1 {
			continue // checked with the first row of the group
		}
		for _, p := range rows { // the set of valid rows changes only on start and end dates
			if err := coveredOn(p.StartDate, rows); err != nil {
				return err
			}
			if p.EndDate != "" {
				if err := coveredOn(p.EndDate, rows); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// coveredOn checks the rows of one account and rate name that are valid on a
// day: there is none, one, or tiers without gaps from 0 to infinity.
func coveredOn(date string, rows []listed) error {
	var valid []listed
	for _, p := range rows {
		if rating.ValidOn(p.RateSet, date) {
			valid = append(valid, p)
		}
	}
	if len(valid) == 0 {
		return nil
	}
	slices.SortFunc(valid, func(a, b listed) int { return cmp.Compare(a.TierStart, b.TierStart) })
	end := int64(0)
	for i, p := range valid {
		switch before := valid[max(i-1, 0)]; {
		case p.RateType != before.RateType || p.Currency != before.Currency:
			return fmt.Errorf("rows %d and %d: rate %s has two types or currencies on %s", before.row, p.row, p.RateName, date)
		case i > 0 && rating.Overlap(before.RateSet, p.RateSet):
			return fmt.Errorf("rows %d and %d: rate %s has two prices of the same units on %s", before.row, p.row, p.RateName, date)
		case tiered(p) && p.TierStart > end:
			return fmt.Errorf("row %d: rate %s has no price of the units %d to %d on %s", p.row, p.RateName, end, p.TierStart, date)
		}
		end = p.TierEnd
	}
	if last := valid[len(valid)-1]; tiered(last) && end != 0 {
		return fmt.Errorf("row %d: rate %s has no price of more than %d units on %s", last.row, last.RateName, end, date)
	}
	return nil
}

func tiered(p listed) bool {
	model, err := rating.ModelOf(p.RateType)
	return err == nil && model.Tiered
}
