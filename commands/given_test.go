package commands_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

// example says what a command does to a stream that holds the given events.
type example[S any] struct {
	name  string
	given []events.Data
	when  commands.Command[S]
	then  outcome
}

// outcome is one event, nothing (the zero outcome), or a refusal.
type outcome struct {
	Event   events.Data
	Refusal fault.Code
}

func event(e events.Data) outcome          { return outcome{Event: e} }
func nothing() outcome                     { return outcome{} }
func refusal(code fault.Code) outcome      { return outcome{Refusal: code} }
func given(e ...events.Data) []events.Data { return e }

// and returns the events followed by more.
func and(e []events.Data, more ...events.Data) []events.Data {
	return append(e[:len(e):len(e)], more...)
}

func check[S any, P interface {
	*S
	commands.State
}](t *testing.T, examples []example[S]) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			state := new(S)
			for _, data := range e.given {
				P(state).Evolve(events.Event{Data: data})
				state = restored[S](t, state)
			}
			before := restored[S](t, state)
			got := decide(e.when, state)
			if diff := cmp.Diff(e.then, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if wrote, had := encoded(t, state), encoded(t, before); wrote != had {
				t.Errorf("Decide changed the state from %s to %s", had, wrote)
			}
		})
	}
}

func decide[S any](cmd commands.Command[S], state *S) outcome {
	data, err := cmd.Decide(state, time.UnixMilli(0))
	if err != nil {
		return refusal(fault.CodeOf(err))
	}
	return event(data)
}

// restored returns the state as the next decision finds it: states are kept
// as JSON between decisions.
func restored[S any](t rapid.TB, state *S) *S {
	t.Helper()
	back := new(S)
	if err := json.Unmarshal([]byte(encoded(t, state)), back); err != nil {
		t.Fatal(err)
	}
	return back
}

func encoded(t rapid.TB, state any) string {
	t.Helper()
	stored, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	return string(stored)
}
