package commands

import (
	"time"

	"netsim/events"
)

// EndOperation records how an operation ended. Repeating it does nothing, whatever the
// outcome.
type EndOperation struct {
	Outcome string // events.OperationSucceeded or OperationFailed
}

// Decide implements Command.
func (c EndOperation) Decide(o *Operation, _ time.Time) (events.Data, error) {
	if o.Ended {
		return nil, nil
	}
	return events.OperationEnded{Outcome: c.Outcome}, nil
}
