package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// BeginOperation records that an operator begins to run a command. Its stream is new, or
// derived from an idempotency key, so that repeating it does nothing.
type BeginOperation struct{ Begun events.OperationBegun }

// Decide implements Command.
func (c BeginOperation) Decide(o *Operation, _ time.Time) (events.Data, error) {
	if o.Ended {
		return nil, fault.New(fault.Conflict, "the operation has ended")
	}
	return c.Begun, nil
}
