package handle

import (
	"context"
	"errors"
	"reflect"
	"time"

	"netsim/events"
	"netsim/fault"
)

// Outcome is the outcome of one run of a command.
type Outcome string

// The outcomes of a command.
const (
	OutcomeAccepted Outcome = "accepted"  // the command's event is a fact
	OutcomeRepeated Outcome = "repeated"  // the command had run before
	OutcomeNothing  Outcome = "nothing"   // there was nothing to change
	OutcomeRefused  Outcome = "refused"   // the command refused
	OutcomeRejected Outcome = "rejected"  // another writer's record came first in every attempt
	OutcomeTimedOut Outcome = "timed_out" // no verdict came in time
	OutcomeFailed   Outcome = "failed"    // an internal error, or the log is unavailable
)

// Observation is one run of a command.
type Observation struct {
	Command  string // the Go type's name, such as UpdateWorkspace
	Outcome  Outcome
	Code     fault.Code      // of the error; "" without one
	At       events.Position // of the event; the zero value without one
	Attempts int             // 0 when another run of the command did not end in time
	Took     time.Duration
}

// observer returns the function that reports a command to h.Observe, and starts to
// measure its duration.
func (h *Handler) observer(ctx context.Context) func(command any, attempts int, result Result, err error) {
	if h.Observe == nil {
		return func(any, int, Result, error) {}
	}
	began := h.Now()
	return func(command any, attempts int, result Result, err error) {
		o := Observation{
			Command: nameOf(command), Outcome: outcomeOf(result, err), At: result.At,
			Attempts: attempts, Took: h.Now().Sub(began),
		}
		if err != nil {
			o.Code = fault.CodeOf(err)
		}
		h.Observe(ctx, o)
	}
}

func nameOf(command any) string { return reflect.TypeOf(command).Name() }

func outcomeOf(result Result, err error) Outcome {
	code := fault.CodeOf(err)
	switch {
	case err == nil && result.Repeated:
		return OutcomeRepeated
	case err == nil && result.Event == nil:
		return OutcomeNothing
	case err == nil:
		return OutcomeAccepted
	case errors.Is(err, errLost):
		return OutcomeRejected
	case errors.Is(err, context.DeadlineExceeded):
		return OutcomeTimedOut
	case code == fault.Internal || code == fault.Unavailable:
		return OutcomeFailed
	}
	return OutcomeRefused
}
