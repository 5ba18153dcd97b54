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

// decode decodes an event's data. It returns a UsageRecorded as a pointer.
func (r *readers) decode(eventType string, value []byte) (any, error) {
	switch eventType {
	case usageType:
		if u := new(events.UsageRecorded); r.usage.read(value, u) {
			return u, nil
		}
	case heldType:
		if d := new(events.CreditHeld); r.held.read(value, d) {
			return *d, nil
		}
	case releaseType:
		if d := new(events.CreditReleased); r.released.read(value, d) {
			return *d, nil
		}
	}
	data, err := events.Decode(eventType, value)
	if d, ok := data.(events.UsageRecorded); ok {
		return &d, err
	}
	return data, err
}

// decodeCost decodes a daily cost into c.
func (r *readers) decodeCost(value []byte, c *events.DailyCostRated) error {
	if r.cost.read(value, c) {
		return nil
	}
	data, err := events.Decode(costType, value)
	if d, ok := data.(events.DailyCostRated); ok {
		*c = d
	}
	return err
}
