package commands

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
)

// TestStatesSurviveBeingStored folds every kind of event into every kind of
// state: what is stored must be read back as it was.
func TestStatesSurviveBeingStored(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"workspace_1", "config_1", "sim_1", "ts_1", "upload_1", "mapfile_1", "acct_1", "platform_1"} {
		state, err := NewState(stream)
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range fixtures(t) {
			state.Evolve(events.Event{Data: data})
			stored, err := json.Marshal(state)
			if err != nil {
				t.Fatalf("store the state of %s after %T: %v", stream, data, err)
			}
			read, err := ReadState(stream, stored)
			if err != nil {
				t.Fatalf("read the state of %s after %T: %v", stream, data, err)
			}
			if diff := cmp.Diff(state, read, cmp.AllowUnexported(Workspace{}, Configuration{}, Simulation{}, Traceset{}, Upload{}, MappingFile{}, Account{}, Platform{})); diff != "" {
				t.Errorf("the state of %s after %T is read as another (-was +is):\n%s", stream, data, diff)
			}
		}
	}
}

// fixtures returns a stored event of every type.
func fixtures(t *testing.T) []events.Data {
	t.Helper()
	var all []events.Data
	for _, zero := range events.Types() {
		value, err := os.ReadFile("../events/testdata/fixtures/" + zero.EventType() + ".json")
		if err != nil {
			t.Fatal(err)
		}
		data, err := events.Decode(zero.EventType(), value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}
