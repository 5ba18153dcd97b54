package handle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"netsim/events"
	"netsim/fault"
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

// Because returns the origin of a command that follows from a fact, on behalf of
// the fact's actor. Its command id derives from the fact's stream and from what
// is done, so that a repeated reaction does it once.
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

// Keyed returns the origin of a request with an idempotency key; without a key it
// returns o. The account, the operation, the id of the changed resource and the key
// determine the command id. The digest distinguishes a repetition from another
// request with the same key (completions.md section 1.1).
func (o Origin) Keyed(account, operation, id, key string, body any) (Origin, error) {
	if key == "" {
		return o, nil
	}
	text, err := json.Marshal([]any{operation, id, body})
	if err != nil {
		return o, fmt.Errorf("digest the request: %w", err)
	}
	sum := sha256.Sum256(text)
	o.CommandID = events.DerivedUUID(account, operation, id, key).String()
	o.CommandDigest = hex.EncodeToString(sum[:])
	return o, nil
}

// ran reports whether the fact is that of an earlier run of the command. It
// returns Unprocessable when another request used the command's id.
func (o Origin) ran(prior *events.Prior) (bool, error) {
	switch {
	case prior == nil:
		return false, nil
	case prior.Digest != o.CommandDigest:
		return false, fault.New(fault.Unprocessable, "the idempotency key was used with another request")
	}
	return true, nil
}

// Repeated reports whether a command has run before. Call it before a check that
// fails after the first run, so that a repetition gets the first answer.
func (h *Handler) Repeated(ctx context.Context, stream string, from Origin) (bool, error) {
	if from.CommandID == "" {
		return false, nil
	}
	s, err := h.Log.Load(ctx, stream, from.CommandID)
	if err != nil {
		return false, err
	}
	return from.ran(s.Prior)
}
