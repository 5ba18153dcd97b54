package rating

import (
	"fmt"
	"math"
	"slices"

	"netsim/events"
)

// The rate models, as a rate's rateType names them (completions 7.3).
const (
	Unit      = "unit"
	Flat      = "flat"
	Graduated = "graduated"
	Volume    = "volume"
	Package   = "package"
)

// Model is how a rate prices units. A new model is an entry of Models, a value of
// rateType in the contract, and a row of docs/rating.md.
type Model struct {
	// Name is the rateType.
	Name string
	// Tiered means that a row prices only the units within its tier. A row of
	// any other model prices all units.
	Tiered bool
	// Packaged means that a row needs a packageSize.
	Packaged bool
	// Alone means that the price of an item does not depend on the account's
	// other items.
	Alone bool
	// Per is what the amount is due for: "" for a unit of the row, else
	// "Account" or "Package".
	Per string
	// due returns how many times the amount is due for an item with q units, if
	// the items before it have o units and all items have c.
	due func(r *Rate, o, q, c int64) int64
}

// Models returns the rate models.
func Models() []Model {
	return []Model{
		{Name: Unit, Alone: true, due: func(_ *Rate, _, q, _ int64) int64 { return q }},
		{Name: Flat, Per: "Account", due: func(_ *Rate, o, q, _ int64) int64 {
			if o == 0 && q > 0 {
				return 1
			}
			return 0
		}},
		{Name: Graduated, Tiered: true, due: func(r *Rate, o, q, _ int64) int64 {
			return max(min(o+q, r.end)-max(o, r.start), 0)
		}},
		{Name: Volume, Tiered: true, due: func(r *Rate, _, q, c int64) int64 {
			if r.start <= c && c < r.end {
				return q
			}
			return 0
		}},
		{Name: Package, Packaged: true, Per: "Package", due: func(r *Rate, o, q, _ int64) int64 {
			return ceilDiv(o+q, r.PackageSize) - ceilDiv(o, r.PackageSize)
		}},
	}
}

// unitsOf returns the units that a row prices, half-open.
func unitsOf(row events.RateSet) (start, end int64) {
	m, err := ModelOf(row.RateType)
	switch {
	case err != nil || !m.Tiered:
		return 0, math.MaxInt64
	case row.TierEnd == 0:
		return row.TierStart, math.MaxInt64
	}
	return row.TierStart, row.TierEnd
}

// ValidOn reports whether a row is valid on a date, YYYY-MM-DD.
func ValidOn(row events.RateSet, date string) bool {
	return row.StartDate <= date && (row.EndDate == "" || date < row.EndDate)
}

// Overlap reports whether two rows price the same units on the same day.
func Overlap(a, b events.RateSet) bool {
	startA, endA := unitsOf(a)
	startB, endB := unitsOf(b)
	return startA < endB && startB < endA &&
		(a.EndDate == "" || b.StartDate < a.EndDate) && (b.EndDate == "" || a.StartDate < b.EndDate)
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// ModelOf returns the model of a rateType.
func ModelOf(rateType string) (Model, error) {
	models := Models()
	i := slices.IndexFunc(models, func(m Model) bool { return m.Name == rateType })
	if i < 0 {
		return Model{}, fmt.Errorf("there is no rate type %q", rateType)
	}
	return models[i], nil
}

// ModelNames returns the names of the rate models.
func ModelNames() (names []string) {
	for _, m := range Models() {
		names = append(names, m.Name)
	}
	return names
}
