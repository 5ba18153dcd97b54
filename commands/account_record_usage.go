package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// What a billing event does to its item.
const (
	UsageStart  = "start"
	UsageUpdate = "update"
	UsageStop   = "stop"
)

// RecordUsage records that an item opened, changed or closed. It computes the
// units of all active items after the change. An update to the same units does
// nothing.
type RecordUsage struct {
	Usage events.UsageRecorded // without BillableCount
}

// Decide implements Command.
func (c RecordUsage) Decide(a *Account, _ time.Time) (events.Data, error) {
	u := c.Usage
	if u.PreviousCount == u.CurrentCount && u.Action == UsageUpdate {
		return nil, nil
	}
	u.BillableCount = a.Units[u.RateName] + u.CurrentCount - u.PreviousCount
	if u.BillableCount < 0 {
		return nil, fault.New(fault.Internal, "the units of %s would be %d, below 0", u.RateName, u.BillableCount)
	}
	return u, nil
}
