package commands

import (
	"time"

	"netsim/events"
)

const platformPrefix = "platform"

// PlatformStream returns the stream of a deployment's price list.
func PlatformStream(platform string) string { return platformPrefix + "_" + platform }

// Platform is what decisions about a price list need.
type Platform struct {
	created
	LastRateID int64 `json:"lastRateId,omitempty"`
}

// Evolve applies an event.
func (p *Platform) Evolve(e events.Event) {
	if d, ok := e.Data.(events.RateSet); ok {
		p.Exists, p.LastRateID = true, max(p.LastRateID, d.RateID)
	}
}

// SetRate records one row of the price list under the next rate id. Its
// command id derives from the row, so a list loaded twice stands once.
type SetRate struct {
	Rate events.RateSet // without RateID
}

// Decide implements Command.
func (c SetRate) Decide(p *Platform, _ time.Time) (events.Data, error) {
	r := c.Rate
	r.RateID = p.LastRateID + 1
	return r, nil
}
