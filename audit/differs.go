package audit

import (
	"slices"
	"strconv"

	"netsim/events"
	"netsim/rating"
)

// net returns the sum of a row and its corrections.
func (b *books) net(c *cost) string {
	if len(c.fixes) == 0 {
		return c.Cost
	}
	var sum rating.Sum
	for _, part := range append([]*cost{c}, c.fixes...) {
		if err := sum.Add(part.Cost); err != nil {
			return err.Error()
		}
	}
	return sum.String()
}

// differs returns the first member in which a row differs from the rated one, ""
// when there is none. For a row with corrections, only the sum is compared.
// Segments may be split differently where a later event changed nothing, but they
// must add up.
func (b *books) differs(c *cost, want *events.DailyCostRated) (what, wanted, got string) {
	if net := b.net(c); net != want.Cost && !rating.Equal(net, want.Cost) {
		return "cost", want.Cost, net
	}
	if len(c.fixes) > 0 {
		return "", "", ""
	}
	switch {
	case want.RateName != c.RateName:
		return "rateName", want.RateName, c.RateName
	case want.RateAmount != c.RateAmount:
		return "rateAmount", want.RateAmount, c.RateAmount
	case want.Currency != c.Currency:
		return "currency", want.Currency, c.Currency
	case want.ItemName != c.ItemName:
		return "itemName", want.ItemName, c.ItemName
	case want.WorkspaceID != c.WorkspaceID:
		return "workspaceId", want.WorkspaceID, c.WorkspaceID
	case want.SandboxID != c.SandboxID:
		return "sandboxId", want.SandboxID, c.SandboxID
	case want.UserID != c.UserID:
		return "userId", want.UserID, c.UserID
	case want.DayPrice != c.DayPrice:
		return "dayPrice", want.DayPrice, c.DayPrice
	case want.UnitDays != c.UnitDays:
		return "unitDays", want.UnitDays, c.UnitDays
	case want.Period != c.Period:
		return "period", want.Period, c.Period
	case want.EngineVersion != c.EngineVersion:
		return "engineVersion", want.EngineVersion, c.EngineVersion
	}
	if want.Quantity != c.Quantity || want.TierStart != c.TierStart || want.TierEnd != c.TierEnd {
		return "quantity and tier", tierOf(want), tierOf(&c.DailyCostRated)
	}
	if !slices.EqualFunc(want.Segments, c.Segments, sameSegment) {
		if sum, ok := unitDays(c.Segments); !ok || !rating.Equal(sum, c.UnitDays) {
			return "sum of the segments", c.UnitDays, sum
		}
	}
	return "", "", ""
}

func sameSegment(a, b events.CostSegment) bool {
	return a.From.Equal(b.From) && a.To.Equal(b.To) && a.Units == b.Units && a.Fraction == b.Fraction && a.Count == b.Count
}

// unitDays returns Σ units × fraction.
func unitDays(segments []events.CostSegment) (string, bool) {
	var sum rating.Sum
	for _, g := range segments {
		if sum.AddTimes(g.Fraction, g.Units) != nil {
			return "", false
		}
	}
	return sum.String(), true
}

func tierOf(d *events.DailyCostRated) string {
	return strconv.FormatInt(d.Quantity, 10) + " in " + strconv.FormatInt(d.TierStart, 10) + " to " + strconv.FormatInt(d.TierEnd, 10)
}
