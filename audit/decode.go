package audit

import "netsim/events"

// Most of a log of billing is daily costs, billing events and credit that is
// held and released. Those are read here an order of magnitude faster than by
// events.Decode, as long as they stand in the form in which the service writes
// them. Everything else is left to events.Decode.

const (
	usageType   = "netsim.billing.usage_recorded.v1"
	costType    = "netsim.billing.daily_cost_rated.v1"
	heldType    = "netsim.billing.credit_held.v1"
	releaseType = "netsim.billing.credit_released.v1"
)

// decode reads an event's data; a billing event as a pointer.
func decode(eventType string, value []byte) (any, error) {
	switch eventType {
	case usageType:
		if u, ok := readUsage(value); ok {
			return u, nil
		}
	case heldType:
		if d, ok := readHeld(value); ok {
			return d, nil
		}
	case releaseType:
		if d, ok := readReleased(value); ok {
			return d, nil
		}
	}
	data, err := events.Decode(eventType, value)
	if d, is := data.(events.UsageRecorded); is {
		return &d, err
	}
	return data, err
}

// decodeCost reads a daily cost into one that is empty.
func decodeCost(value []byte, into *events.DailyCostRated) error {
	if readCost(value, into) {
		return nil
	}
	data, err := events.Decode(costType, value)
	if d, is := data.(events.DailyCostRated); is {
		*into = d
	}
	return err
}

func readHeld(value []byte) (d events.CreditHeld, whole bool) {
	s := scan{text: string(value)}
	s.object(func(key string) {
		switch key {
		case "simulationId":
			d.SimulationID = s.str()
		case "amount":
			d.Amount = s.str()
		case "currency":
			d.Currency = s.str()
		case "expiresAt":
			d.ExpiresAt = s.time()
		default:
			s.odd = true
		}
	})
	return d, s.whole()
}

func readReleased(value []byte) (d events.CreditReleased, whole bool) {
	s := scan{text: string(value)}
	s.object(func(key string) {
		switch key {
		case "simulationId":
			d.SimulationID = s.str()
		case "amount":
			d.Amount = s.str()
		case "currency":
			d.Currency = s.str()
		case "reason":
			d.Reason = s.str()
		default:
			s.odd = true
		}
	})
	return d, s.whole()
}

func readUsage(value []byte) (*events.UsageRecorded, bool) {
	u := new(events.UsageRecorded)
	s := scan{text: string(value)}
	s.object(func(key string) {
		switch key {
		case "billingEventId":
			u.BillingEventID = s.integer()
		case "billingItemId":
			u.BillingItemID = s.integer()
		case "eventType":
			u.Meter = s.str()
		case "eventAction":
			u.Action = s.str()
		case "rateName":
			u.RateName = s.str()
		case "itemName":
			u.ItemName = s.str()
		case "previousCount":
			u.PreviousCount = s.integer()
		case "currentCount":
			u.CurrentCount = s.integer()
		case "totalBillableCount":
			u.BillableCount = s.integer()
		case "workspaceId":
			u.WorkspaceID = s.str()
		case "sandboxId":
			u.SandboxID = s.str()
		case "userId":
			u.UserID = s.str()
		case "resourceType":
			u.ResourceType = s.str()
		case "resourceId":
			u.ResourceID = s.str()
		case "causeType":
			u.CauseType = s.str()
		case "ranks":
			u.Ranks = s.integer()
		case "sizeBytes":
			u.SizeBytes = s.integer()
		case "engine":
			u.Engine = s.str()
		case "occurredAt":
			u.OccurredAt = s.time()
		default:
			s.odd = true
		}
	})
	return u, s.whole()
}

func readCost(value []byte, c *events.DailyCostRated) bool {
	s := scan{text: string(value)}
	s.object(func(key string) {
		switch key {
		case "dailyCostId":
			c.DailyCostID = s.integer()
		case "billingItemId":
			c.BillingItemID = s.integer()
		case "itemName":
			c.ItemName = s.str()
		case "date":
			c.Date = s.str()
		case "rateId":
			c.RateID = s.integer()
		case "rateName":
			c.RateName = s.str()
		case "rateAmount":
			c.RateAmount = s.str()
		case "cost":
			c.Cost = s.str()
		case "previousCost":
			c.PreviousCost = s.str()
		case "currency":
			c.Currency = s.str()
		case "quantity":
			c.Quantity = s.integer()
		case "workspaceId":
			c.WorkspaceID = s.str()
		case "sandboxId":
			c.SandboxID = s.str()
		case "userId":
			c.UserID = s.str()
		case "segments":
			s.odd = s.odd || c.Segments != nil
			c.Segments = s.segments()
		case "dayPrice":
			c.DayPrice = s.str()
		case "unitDays":
			c.UnitDays = s.str()
		case "period":
			c.Period = s.str()
		case "tierStart":
			c.TierStart = s.integer()
		case "tierEnd":
			c.TierEnd = s.integer()
		case "engineVersion":
			c.EngineVersion = s.str()
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
		s.object(func(key string) {
			switch key {
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
