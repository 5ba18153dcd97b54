package commands_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
)

// Every kind of stream has a state. After any event the state is read back as it
// was stored.
func TestStatesSurviveBeingStored(t *testing.T) {
	t.Parallel()
	for _, prefix := range events.StreamPrefixes() {
		stream := prefix + "_1"
		state, err := commands.ReadState(stream, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range fixtures(t) {
			state.Evolve(events.Event{Data: data})
			stored, err := json.Marshal(state)
			if err != nil {
				t.Fatalf("store the state of %s after %T: %v", stream, data, err)
			}
			read, err := commands.ReadState(stream, stored)
			if err != nil {
				t.Fatalf("read the state of %s after %T: %v", stream, data, err)
			}
			if diff := cmp.Diff(state, read, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
				t.Errorf("the state of %s after %T differs after it is stored and read (-stored +read):\n%s", stream, data, diff)
			}
		}
	}
}

// fixtures returns data of every type in every form that was ever written.
func fixtures(t *testing.T) []events.Data {
	t.Helper()
	var all []events.Data
	for _, zero := range events.Types() {
		for _, file := range []string{"fixtures/" + zero.EventType() + ".json", "corpus/" + zero.EventType() + ".jsonl"} {
			text, err := os.ReadFile("../events/testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			for forms := json.NewDecoder(bytes.NewReader(text)); forms.More(); {
				var value json.RawMessage
				if err := forms.Decode(&value); err != nil {
					t.Fatal(err)
				}
				data, err := events.Decode(zero.EventType(), value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, data)
			}
		}
	}
	return all
}
