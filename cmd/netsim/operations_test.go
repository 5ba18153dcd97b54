package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// reading lists the commands that change nothing in the deployment.
func reading() []string {
	return []string{
		"acls", "audit bundle", "audit heads", "audit lake", "audit public", "audit replay", "audit verify", "billing export", "completion",
		"doctor", "engine calibrate", "engine convert", "engine fabric", "engine run", "engine serve", "events export", "events status", "events tail", "events verify",
		"jobs", "lake attach", "lake sources", "lake status", "log archive", "objects missing", "operations list", "quotas show",
		"reactions dead", "reactions show", "reactions status", "readmodel diff", "readmodel digest", "readmodel status",
		"runs", "serve", "streams parked", "streams show", "streams status", "streams step", "tables dump", "token", "upgrade status", "version",
	}
}

// operatorsCommands returns the commands but those for users, which cmd/client tests.
func operatorsCommands(parser *kong.Kong) []*kong.Node {
	return slices.DeleteFunc(parser.Model.Leaves(true), func(leaf *kong.Node) bool {
		group := leaf.ClosestGroup()
		return group != nil && group.Key == "Use the service"
	})
}

// TestEveryChangingCommandIsRecorded: every command is recorded, says why it is not, or is
// listed as one that changes nothing.
func TestEveryChangingCommandIsRecorded(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, kong.Name("netsim"))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, leaf := range operatorsCommands(parser) {
		name := strings.TrimPrefix(strings.SplitN(leaf.FullPath(), " <", 2)[0], "netsim ")
		there[name] = true
		command := leaf.Target.Addr().Interface()
		_, recorded := command.(changing)
		_, excused := command.(unrecorded)
		kinds := 0
		for _, is := range []bool{recorded, excused, slices.Contains(reading(), name)} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("netsim %s must be one of: recorded (a method changes), not recorded for a reason (a method unrecorded), listed in reading; it is %d of them", name, kinds)
		}
	}
	for _, name := range reading() {
		if !there[name] {
			t.Errorf("reading lists %s, which is no command", name)
		}
	}
}

// TestOperationsHaveTheirArguments: an operation has the arguments that were given, and of a
// file only its name. With options that make it change nothing, a command is not recorded.
func TestOperationsHaveTheirArguments(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"readmodel rebuild next":                                 nil,
		"readmodel rebuild next --accept-lost-tail reason":       {"readmodel rebuild", "schema=next", "accept-lost-tail=reason"},
		"lake grant r --password-file " + fixtures + "first.key": {"lake grant", "role=r", "password-file=first.key"},
		"quotas set acct_1 streams.open=3":                       {"quotas set", "account=acct_1", "limits=map[streams.open:3]"},
		"billing rates apply options_test.go --yes":              {"billing rates apply", "file=options_test.go", "yes=true"},
		"billing rates apply options_test.go --dry-run":          nil,
		"log adopt":                nil,
		"log adopt --reason moved": {"log adopt", "reason=moved"},
		"audit key":                nil,
		"upgrade finish":           {"upgrade finish"},
	} {
		parser, err := kong.New(&commands{}, kong.Name("netsim"))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.Parse(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if parsed.Selected().Target.Addr().Interface().(changing).changes() { //nolint:forcetypeassert // each of these commands is
			o := operationOf(parsed)
			got = append([]string{o.Command}, o.Arguments...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("netsim %s (-want +got):\n%s", line, diff)
		}
	}
}
