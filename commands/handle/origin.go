package handle

import (
	"cmp"

	"netsim/events"
)

// Origin says who sends a command and why.
type Origin struct {
	Actor         string // user id, or "system"
	CommandID     string // from the idempotency key or the cause; "" for none
	CommandDigest string // of the request's body
	CorrelationID string
	CauseID       string // the event that is reacted to
}

// System returns the origin of a command of the service itself, with the
// command id that the parts determine, or without one if there are no parts.
func System(parts ...string) Origin {
	o := Origin{Actor: events.System}
	if len(parts) == 0 {
		return o
	}
	return o.Derive(parts...)
}

// Because returns the origin of a command that follows from a fact, on behalf
// of the fact's actor. Its command id derives from the fact's stream and from
// what is done: a repeated reaction does it once.
func Because(f *events.Fact, what string) Origin {
	return Origin{Actor: f.Actor}.CausedBy(f).Derive(f.Stream, what)
}

// CausedBy returns the origin with the fact as its cause.
func (o Origin) CausedBy(f *events.Fact) Origin {
	o.CorrelationID, o.CauseID = f.CorrelationID, f.ID
	return o
}

// Derive returns the origin of a further command with the same actor, by
// default the service, and the same cause. The parts determine its command id.
func (o Origin) Derive(parts ...string) Origin {
	o.Actor, o.CommandID, o.CommandDigest = cmp.Or(o.Actor, events.System), events.DerivedUUID(parts...).String(), ""
	return o
}
