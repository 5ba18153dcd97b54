// Package commands decides. Each command has its own file: what it means, its
// data, and Decide, which takes a stream's state and returns the one event to
// append, nothing, or a refusal. The file of an aggregate holds the state that
// its decisions need, and Evolve, which applies an event and cannot fail.
//
// Everything here is pure. Package handle runs a command on the log.
package commands

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"netsim/events"
)

// Command is a decision on a stream whose state is S. Decide is pure: equal
// states and times give equal results. A nil event and a nil error mean that
// there is nothing to change.
type Command[S any] interface {
	Decide(state *S, now time.Time) (events.Data, error)
}

// State is what a stream's events fold into.
type State interface {
	Evolve(e events.Event)
}

// created says whether a stream has events. Most states embed it.
type created struct {
	Exists bool `json:"exists,omitempty"`
}

// requested has the correlation id of the request that made the stream. What the service
// does to the stream later, without another request, belongs to that one.
type requested struct {
	Request string `json:"request,omitempty"`
}

func (r requested) request() string { return r.Request }

// RequestOf returns the request that the next event of the stream belongs to, if the
// command's origin names none; it may be "".
func RequestOf(s State) string {
	if made, ok := s.(interface{ request() string }); ok {
		return made.request()
	}
	return ""
}

// newState returns the empty state of a stream, by its id's prefix.
func newState(stream string) (State, error) {
	prefix, _, _ := strings.Cut(stream, "_")
	switch prefix {
	case events.WorkspacePrefix:
		return new(Workspace), nil
	case events.WebhookPrefix:
		return new(Webhook), nil
	case events.ConfigurationPrefix:
		return new(Configuration), nil
	case events.SimulationPrefix:
		return new(Simulation), nil
	case events.StudyPrefix:
		return new(Study), nil
	case events.TracesetPrefix:
		return new(Traceset), nil
	case events.UploadPrefix:
		return new(Upload), nil
	case events.MappingFilePrefix:
		return new(MappingFile), nil
	case events.AccountPrefix:
		return new(Account), nil
	case events.PlatformPrefix:
		return new(Platform), nil
	case events.CheckpointPrefix:
		return new(Checkpoints), nil
	case events.SealPrefix:
		return new(Seals), nil
	case events.OperationPrefix:
		return new(Operation), nil
	}
	return nil, fmt.Errorf("stream %q has no state", stream)
}

// ReadState reads a stream's stored state; nil is the empty state.
func ReadState(stream string, stored []byte) (State, error) {
	s, err := newState(stream)
	if err != nil || stored == nil {
		return s, err
	}
	if err := json.Unmarshal(stored, s); err != nil {
		return nil, fmt.Errorf("read the state of %s: %w", stream, err)
	}
	return s, nil
}
