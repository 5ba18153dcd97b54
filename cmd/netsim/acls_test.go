package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRightsByCommand: netsim acls prints each right once, as a command or as JSON, for the
// principals and the topics that are named.
func TestRightsByCommand(t *testing.T) {
	t.Parallel()
	text, said, code := netsim(t, "acls", "--principal-prefix", "User:p-", "--topic-prefix", "x.")
	if code != 0 || said != "" {
		t.Fatalf("exit status %d: %s", code, said)
	}
	listed, said, code := netsim(t, "acls", "--principal-prefix", "User:p-", "--topic-prefix", "x.", "--json")
	if code != 0 || said != "" {
		t.Fatalf("exit status %d: %s", code, said)
	}
	var all []struct {
		Principal, User, Resource, Name string
		Prefixed                        bool
		Operations                      []string
	}
	if err := json.Unmarshal([]byte(listed), &all); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(text, "\n"); lines != len(all) || lines == 0 {
		t.Errorf("%d commands and %d rows of JSON", lines, len(all))
	}
	for _, r := range all {
		line := "--add --allow-principal '" + r.Principal + "' --operation " + strings.Join(r.Operations, " --operation ") + " --" + r.Resource + " '" + r.Name + "'"
		if r.Prefixed {
			line += " --resource-pattern-type prefixed"
		}
		if strings.Count(text, line+"\n") != 1 {
			t.Errorf("%q is not printed once", line)
		}
		if r.Principal != "User:p-"+r.User || !strings.HasPrefix(r.Name, "x.") {
			t.Errorf("the right %+v is not of the named principals and topics", r)
		}
	}
}
