package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/postgres"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// reading lists the commands that change nothing in the deployment.
func reading() []string {
	return []string{
		"acls", "audit bundle", "audit heads", "audit public", "audit replay", "audit verify", "billing export",
		"doctor", "engine calibrate", "engine convert", "engine fabric", "engine run", "engine serve", "events export", "events status", "events tail", "events verify",
		"jobs", "lake attach", "lake status", "log archive", "objects missing", "operations list", "quotas show",
		"reactions dead", "reactions show", "reactions status", "readmodel diff", "readmodel digest", "readmodel status",
		"runs", "serve", "streams parked", "streams show", "streams status", "token", "upgrade status", "version",
	}
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
	for _, leaf := range parser.Model.Leaves(true) {
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

// TestOperationsByCommand: at level 1 a command runs and says that it is not recorded. From
// level 2 on, each has its operator, arguments and outcome, and one that was killed has no
// end. Without the log none is run. A replay gives the same rows.
func TestOperationsByCommand(t *testing.T) {
	t.Parallel()
	l := newEventLog(t, 1)
	l.settings = append(l.settings, "NETSIM_OPERATOR=ada.person@example.com")
	l.run(t, "readmodel rebuild first --once")
	l.run(t, "readmodel rebuild next --once")
	cmd := l.command(t, "readmodel drop first")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "netsim: not recorded in the log: the deployment is at level 1") {
		t.Errorf("at level 1: %v\n%s", err, out)
	}
	err := pgx.BeginFunc(t.Context(), l.DB, func(tx pgx.Tx) error { return postgres.RaiseLevel(t.Context(), tx, events.Level) })
	if err != nil {
		t.Fatal(err)
	}
	if out := l.run(t, "operations list"); !strings.Contains(out, "no operator has changed the deployment") {
		t.Errorf("the list is not empty:\n%s", out)
	}

	l.run(t, "readmodel drop next")
	if out, err := l.command(t, "readmodel drop next").CombinedOutput(); err == nil {
		t.Errorf("a missing read model was dropped:\n%s", out)
	}
	following := l.command(t, "readmodel rebuild beside --accept-lost-tail nothing")
	if err := following.Start(); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Operator, Command string
		Arguments         []string
		Outcome           string
		EndedAt           *string
	}
	var list struct {
		Items []row
		Total int
	}
	read := func(total int) bool {
		if err := json.Unmarshal([]byte(l.run(t, "operations list --json --limit 10")), &list); err != nil {
			t.Fatal(err)
		}
		return list.Total == total && (list.Items[0].EndedAt != nil || list.Items[0].Command == "readmodel rebuild")
	}
	testworld.Await(t, func() bool { return read(3) })
	if err := following.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = testwait.Call(t, following.Wait, "the killed command to end") // it was killed
	want := []row{
		{Command: "readmodel rebuild", Arguments: []string{"schema=beside", "accept-lost-tail=nothing"}},
		{Command: "readmodel drop", Arguments: []string{"schema=next"}, Outcome: events.OperationFailed},
		{Command: "readmodel drop", Arguments: []string{"schema=next"}, Outcome: events.OperationSucceeded},
	}
	operator := list.Items[0].Operator
	for i := range list.Items {
		if got := &list.Items[i]; got.Operator == "" || got.Operator != operator || (got.EndedAt == nil) != (got.Outcome == "") {
			t.Errorf("got %+v, want the operator, and an end exactly with an outcome", got)
		} else {
			got.Operator, got.EndedAt = "", nil
		}
	}
	if diff := cmp.Diff(want, list.Items); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	out := l.run(t, "operations list --limit 1")
	if !strings.Contains(out, "no end") || !strings.Contains(out, "your own id is operator_") || strings.Contains(out, "drop") || strings.Contains(out, "ada") {
		t.Errorf("the list of one operation is\n%s", out)
	}

	lost := l.command(t, "person forget user_1")
	lost.Env = append(slices.Clone(l.settings), "NETSIM_KAFKA="+teststack.FreeAddress(t))
	if out, err := lost.CombinedOutput(); err == nil || !strings.Contains(string(out), "no Kafka broker answers") {
		t.Errorf("without the log: %v\n%s", err, out)
	}
	l.run(t, "readmodel rebuild again --once")
	l.run(t, "readmodel diff again")
}
