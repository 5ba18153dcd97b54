package main

import (
	"encoding/json"
	"strings"
	"testing"

	"netsim/api"
	decide "netsim/commands"
	"netsim/events"
	"netsim/internal/testworld"
)

// TestAStreamIsStepped: the command shows each fact with the state before and after it, as
// text and in the form of the API.
func TestAStreamIsStepped(t *testing.T) {
	t.Parallel()
	l := newEventLog(t, 0)
	id := events.NewID(events.WorkspacePrefix)
	testworld.In(t, l.World, id, id, decide.CreateWorkspace{AccountID: testworld.Account, Name: "first"})
	for _, name := range []string{"second", "third\x1b[2J"} {
		testworld.In(t, l.World, id, id, decide.UpdateWorkspace{ID: id, Name: name})
	}
	text := l.run(t, "streams step "+id)
	for _, want := range []string{
		"1 netsim.workspace.created.v1 at workspaces/", "3 netsim.workspace.updated.v1 at workspaces/", `  data: {"name":"second"}`, "  before: {}",
		`"name":"first","version":1}`, `"name":"second","version":2}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant %q in it", text, want)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("the output has a control character: %q", text)
	}
	var all []api.StreamFact
	for lines := json.NewDecoder(strings.NewReader(l.run(t, "streams step "+id+" --json --from 2 --limit 1"))); lines.More(); {
		var f api.StreamFact
		if err := lines.Decode(&f); err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	if len(all) != 1 || all[0].Sequence != 2 || all[0].PreviousHash == "" || !strings.Contains(string(all[0].After), `"second"`) {
		t.Errorf("got %+v, want the second fact alone, in the form of the API", all)
	}
	if plain := l.run(t, "streams step "+id+" --no-states"); strings.Contains(plain, "before:") || strings.Count(plain, "data:") != 3 {
		t.Errorf("without states: got\n%s", plain)
	}
	out, err := l.command(t, "streams step "+events.NewID(events.WorkspacePrefix)).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "does not exist") {
		t.Errorf("a missing stream: %v, %s", err, out)
	}
}
