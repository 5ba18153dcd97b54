package replicas

import (
	"context"
	"sync"

	"netsim/events"
	"netsim/infra/projector"
)

// noted collects the positions of the events that a request makes.
type noted struct {
	mu    sync.Mutex
	parts []events.Position
	vague bool // a command of the request made no event
}

type notedKey struct{}

// Note records the position of an event that the request of ctx has made, or, for the
// zero value, that one of its commands had nothing to do or had run before.
func Note(ctx context.Context, at events.Position) {
	n, ok := ctx.Value(notedKey{}).(*noted)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if at.Family == "" {
		n.vague = true
		return
	}
	at.Offset++ // the first offset that the token does not cover
	n.parts = append(n.parts, at)
}

// position returns the position of all events; ok is false unless the events alone show
// what the request has answered from.
func (n *noted) position() (at projector.Position, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return projector.PositionOf(n.parts...), !n.vague && len(n.parts) > 0
}
