package reactions

import (
	"netsim/commands/handle"
	"netsim/events"
)

// because is the origin of a command that a fact causes. Its id derives from
// the fact's stream and what is done, so that doing it twice is doing it once.
func because(f *events.Fact, what string) handle.Origin {
	return handle.Origin{
		Actor: actorOf(f), CommandID: derivedCommand(f.Stream, what),
		CorrelationID: f.CorrelationID, CauseID: f.ID,
	}
}

func actorOf(f *events.Fact) string {
	if f.Actor == "" {
		return events.System
	}
	return f.Actor
}

func derivedCommand(parts ...string) string { return events.DerivedUUID(parts...).String() }
