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
		if u := new(events.UsageRecorded); read(value, u, seen) {
			return u, nil
		}
	case heldType:
		if d := new(events.CreditHeld); read(value, d, seen) {
			return *d, nil
		}
	case releaseType:
		if d := new(events.CreditReleased); read(value, d, seen) {
			return *d, nil
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
	if read(value, c, seen) {
		return nil
	}
	data, err := events.Decode(costType, value)
	if d, ok := data.(events.DailyCostRated); ok {
		*c = d
	}
	return err
}
