//go:build tools

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/public"
)

// The Python program in docs/log.md prints the facts and skips all other records.
func TestTheReaderOfTheLogReads(t *testing.T) {
	t.Parallel()
	stream := events.NewID(events.WorkspacePrefix)
	frame := events.Frame{
		ID: "1", Type: "netsim.workspace.created.v1", Stream: stream, PartitionKey: stream,
		Sequence: 1, Time: time.UnixMilli(0), DataVersion: 1,
	}
	first, hash := frame.Message([]byte(`{"name":"first"}`))
	other, _ := frame.Message([]byte(`{"name":"other"}`))
	frame.Type, frame.Sequence, frame.PreviousHash = "netsim.workspace.updated.v1", 2, hash
	second, _ := frame.Message([]byte(`{"name":"second"}`))
	prints(t, "log.md", []events.Message{first, first, other, second},
		`0 netsim.workspace.created.v1 {"name":"first"}`,
		`3 netsim.workspace.updated.v1 {"name":"second"}`)
}

// The Python program in docs/events.md prints each fact once, also when the topic
// repeats some.
func TestTheReaderOfThePublicTopicsReads(t *testing.T) {
	t.Parallel()
	fact := func(stream string, sequence int64, data string) events.Message {
		frame := events.Frame{
			ID: fmt.Sprint(stream, sequence), Type: "netsim.workspace.updated.v1", Stream: stream, PartitionKey: stream,
			Sequence: sequence, Time: time.UnixMilli(0), DataVersion: 1,
		}
		if sequence > 1 {
			frame.PreviousHash = events.Hash{1}
		}
		m, _ := frame.Message([]byte(data))
		f := facts.Decode(events.Workspaces, &events.Record{Message: m, Topic: "netsim.workspaces"})
		return public.Message(&f, "netsim.workspaces")
	}
	a1, b2, a2 := fact("workspace_a", 1, `{"name":"a1"}`), fact("workspace_b", 2, `{"name":"b2"}`), fact("workspace_a", 2, `{"name":"a2"}`)
	prints(t, "events.md", []events.Message{a1, b2, a1, a2, b2, a2},
		`workspace_a 1 netsim.workspace.updated.v1 {'name': 'a1'}`,
		`workspace_b 2 netsim.workspace.updated.v1 {'name': 'b2'}`,
		`workspace_a 2 netsim.workspace.updated.v1 {'name': 'a2'}`)
}

// prints runs the Python program of a page with records and compares what it prints.
func prints(t *testing.T, page string, messages []events.Message, want ...string) {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(text)
	if program == nil {
		t.Fatalf("docs/%s has no Python", page)
	}
	records, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	python := exec.CommandContext(t.Context(), "python3", "-c", string(program[1]))
	python.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+strings.Join(
		[]string{"testdata", root + "/events/testdata/golden"}, string(filepath.ListSeparator)))
	python.Stdin = bytes.NewReader(records)
	python.Stderr = t.Output()
	printed, err := python.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(strings.Lines(string(printed))); strings.Join(got, "") != strings.Join(want, "\n")+"\n" {
		t.Errorf("the program of docs/%s prints %q, want %q", page, got, want)
	}
}
