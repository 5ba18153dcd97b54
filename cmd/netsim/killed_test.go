//go:build faults

package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/postgres"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// The tests of this file kill commands. They are here and not in internal/faults because
// they run this test's own binary as the command, on the log of this package's tests.

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		content[e.Name()] = string(text)
	}
	return content
}

// killAt kills a process when a directory has a number of files, unless it has ended.
func killAt(process *os.Process, dir string, count int, ended <-chan struct{}) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ended:
			return
		}
		if entries, err := os.ReadDir(dir); err == nil && len(entries) >= count {
			process.Kill() //nolint:errcheck // Wait reports how the process ended
			return
		}
	}
}

// TestExportSurvivesKill: an export whose process is killed at random points, and started
// again each time, has the same files as an uninterrupted one.
func TestExportSurvivesKill(t *testing.T) {
	l := newEventLog(t, 4000)
	whole, killed := t.TempDir(), t.TempDir()
	line := "events export --file-bytes 4000 --to "
	if out := l.run(t, line+whole); !strings.Contains(out, "4000 facts in ") {
		t.Errorf("the command printed %q", out)
	}
	random := rand.New(rand.NewPCG(1, 2))
	died := 0
	for died < 12 {
		cmd := l.command(t, line+killed)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go killAt(cmd.Process, killed, len(files(t, killed))+1+random.IntN(20), ended)
		err := cmd.Wait()
		close(ended)
		if err == nil {
			break
		}
		died++
	}
	t.Logf("the export was killed %d times", died)
	if died == 0 {
		t.Error("the export was never killed")
	}
	l.run(t, line+killed)
	if diff := cmp.Diff(files(t, whole), files(t, killed)); diff != "" {
		t.Errorf("(-uninterrupted +resumed):\n%.2000s", diff)
	}
	if out := l.run(t, "events verify "+killed); !strings.HasPrefix(out, "4000 facts in ") {
		t.Errorf("verify printed %q", out)
	}
	if err := os.WriteFile(filepath.Join(killed, "workspaces-0000-x.parquet"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := l.command(t, "events verify "+killed).Output(); err == nil || !strings.Contains(string(out), "FOUND workspaces-0000-x.parquet is not in the manifest\n") {
		t.Errorf("verify printed %q, %v", out, err)
	}
}

// TestOperationsByCommand: at level 1 a command runs and says that it is not recorded. From
// level 2 on, each has its operator, arguments and outcome, and one that was killed has no
// end. Without the log none is run. A replay gives the same rows.
func TestOperationsByCommand(t *testing.T) {
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
