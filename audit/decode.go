package audit

import "netsim/events"

// Most events of billing are daily costs, billing events, and holds and releases
// of credit. This file decodes them an order of magnitude faster than
// events.Decode, if they have the form in which the service writes them.
// events.Decode decodes all others.

const (
	usageType   = "netsim.billing.usage_recorded.v1"
	costType    = "netsim.billing.daily_cost_rated.v1"
	heldType    = "netsim.billing.credit_held.v1"
	releaseType = "netsim.billing.credit_released.v1"
)

// decode decodes an event's data. It returns a UsageRecorded as a pointer. seen may
// be nil.
func decode(eventType string, value []byte, seen *words) (any, error) {
	switch eventType {
	case usageType:
		if u, ok := readUsage(value, seen); ok {
			return u, nil
		}
	case heldType:
		if d, ok := readHeld(value, seen); ok {
			return d, nil
		}
	case releaseType:
		if d, ok := readReleased(value, seen); ok {
			return d, nil
		}
	}
	data, err := events.Decode(eventType, value)
	if d, ok := data.(events.UsageRecorded); ok {
		return &d, err
	}
	return data, err
}

// decodeCost decodes a daily cost into c, which must be empty.
func decodeCost(value []byte, c *events.DailyCostRated, seen *words) error {
	if readCost(value, c, seen) {
		return nil
	}
	data, err := events.Decode(costType, value)
	if d, ok := data.(events.DailyCostRated); ok {
		*c = d
	}
	return err
}

func readHeld(value []byte, seen *words) (d events.CreditHeld, whole bool) {
	s := scan{text: value, seen: seen}
	s.object(func(key []byte) {
		switch string(key) {
		case "simulationId":
			d.SimulationID = s.str()
		case "amount":
			d.Amount = s.str()
		case "currency":
			d.Currency = s.word(12)
		case "expiresAt":
			d.ExpiresAt = s.time()
		default:
			s.odd = true
		}
	})
	return d, s.whole()
}

func readReleased(value []byte, seen *words) (d events.CreditReleased, whole bool) {
	s := scan{text: value, seen: seen}
	s.object(func(key []byte) {
		switch string(key) {
		case "simulationId":
			d.SimulationID = s.str()
		case "amount":
			d.Amount = s.str()
		case "currency":
			d.Currency = s.word(12)
		case "reason":
			d.Reason = s.str()
		default:
			s.odd = true
		}
	})
	return d, s.whole()
}

func readUsage(value []byte, seen *words) (*events.UsageRecorded, bool) {
	u := new(events.UsageRecorded)
	s := scan{text: value, seen: seen}
	s.object(func(key []byte) {
		switch string(key) {
		case "billingEventId":
			u.BillingEventID = s.integer()
		case "billingItemId":
			u.BillingItemID = s.integer()
		case "eventType":
			u.Meter = s.word(0)
		case "eventAction":
			u.Action = s.word(1)
		case "rateName":
			u.RateName = s.word(2)
		case "itemName":
			u.ItemName = s.word(3)
		case "previousCount":
			u.PreviousCount = s.integer()
		case "currentCount":
			u.CurrentCount = s.integer()
		case "totalBillableCount":
			u.BillableCount = s.integer()
		case "workspaceId":
			u.WorkspaceID = s.word(4)
		case "sandboxId":
			u.SandboxID = s.word(5)
		case "userId":
			u.UserID = s.word(6)
		case "resourceType":
			u.ResourceType = s.word(7)
		case "resourceId":
			u.ResourceID = s.str()
		case "causeType":
			u.CauseType = s.word(8)
		case "ranks":
			u.Ranks = s.integer()
		case "sizeBytes":
			u.SizeBytes = s.integer()
		case "engine":
			u.Engine = s.word(9)
		case "occurredAt":
			u.OccurredAt = s.time()
		default:
			s.odd = true
		}
	})
	return u, s.whole()
}

func readCost(value []byte, c *events.DailyCostRated, seen *words) bool {
	s := scan{text: value, seen: seen}
	s.object(func(key []byte) {
		switch string(key) {
		case "dailyCostId":
			c.DailyCostID = s.integer()
		case "billingItemId":
			c.BillingItemID = s.integer()
		case "itemName":
			c.ItemName = s.word(3)
		case "date":
			c.Date = s.word(10)
		case "rateId":
			c.RateID = s.integer()
		case "rateName":
			c.RateName = s.word(2)
		case "rateAmount":
			c.RateAmount = s.word(11)
		case "cost":
			c.Cost = s.str()
		case "previousCost":
			c.PreviousCost = s.str()
		case "currency":
			c.Currency = s.word(12)
		case "quantity":
			c.Quantity = s.integer()
		case "workspaceId":
			c.WorkspaceID = s.word(4)
		case "sandboxId":
			c.SandboxID = s.word(5)
		case "userId":
			c.UserID = s.word(6)
		case "segments":
			s.odd = s.odd || c.Segments != nil
			c.Segments = s.segments()
		case "dayPrice":
			c.DayPrice = s.word(13)
		case "unitDays":
			c.UnitDays = s.str()
		case "period":
			c.Period = s.word(14)
		case "tierStart":
			c.TierStart = s.integer()
		case "tierEnd":
			c.TierEnd = s.integer()
		case "engineVersion":
			c.EngineVersion = s.word(15)
		case "firstEventId":
			c.FirstEventID = s.integer()
		case "lastEventId":
			c.LastEventID = s.integer()
		case "version":
			c.Version = s.integer()
		case "supersedes":
			c.Supersedes = s.integer()
		case "correctionOf":
			c.CorrectionOf = s.integer()
		default:
			s.odd = true
		}
	})
	return s.whole()
}

func (s *scan) segments() []events.CostSegment {
	segments := make([]events.CostSegment, 0, 1)
	s.array(func() {
		var g events.CostSegment
		s.object(func(key []byte) {
			switch string(key) {
			case "from":
				g.From = s.time()
			case "to":
				g.To = s.time()
			case "units":
				g.Units = s.integer()
			case "fraction":
				g.Fraction = s.str()
			case "count":
				g.Count = s.integer()
			default:
				s.odd = true
			}
		})
		segments = append(segments, g)
	})
	return segments
}
