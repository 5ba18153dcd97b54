package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/objects"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/stream/export"
)

// eventLog is a log with the facts of workspaces, and the settings with which the command
// reaches it.
type eventLog struct {
	*testworld.World
	settings []string
	bucket   string
	streams  []string
}

func newEventLog(t *testing.T, count int) *eventLog {
	t.Helper()
	l := &eventLog{World: testworld.NewServers(t).Start(t)}
	store := teststack.Objects(t)
	l.bucket = store.Bucket
	l.Objects = objects.New(objects.Config{
		Endpoint: store.Endpoint, Region: store.Region, Bucket: store.Bucket, AccessKey: store.AccessKey, SecretKey: store.SecretKey,
	})
	l.settings = []string{
		"NETSIM_COMMAND_TEST=1", "TMPDIR=" + t.TempDir(),
		"NETSIM_KAFKA=" + strings.Join(l.Log.Brokers, ","), "NETSIM_TOPIC_PREFIX=" + l.Log.Prefix, "NETSIM_PARTITIONS=2", "NETSIM_DATA_DEV=true",
		"NETSIM_POSTGRES=" + l.Database, "NETSIM_S3_ENDPOINT=" + store.Endpoint, "NETSIM_S3_REGION=" + store.Region,
		"NETSIM_S3_ACCESS_KEY=" + store.AccessKey, "NETSIM_S3_SECRET_KEY=" + store.SecretKey,
		"NETSIM_OIDC_ISSUER=http://127.0.0.1:1", "NETSIM_OIDC_JWKS_URL=http://127.0.0.1:1/keys", "NETSIM_OIDC_AUDIENCE=netsim",
	}
	l.add(t, count)
	return l
}

// add appends facts, and waits until they are judged.
func (l *eventLog) add(t *testing.T, count int) {
	t.Helper()
	topic := l.EventLog.Topic(events.Workspaces)
	var pending []*eventlog.Pending
	for range count {
		id := events.NewID(events.WorkspacePrefix)
		l.streams = append(l.streams, id)
		d := events.WorkspaceCreated{AccountID: testworld.Account, Name: fmt.Sprint("workspace ", len(l.streams)), Owner: "tester"}
		value, err := events.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		f := events.Frame{
			ID: events.DerivedUUID(id).String(), Type: d.EventType(), Stream: id, PartitionKey: id, Sequence: 1, Time: time.Now(), DataVersion: 1,
		}
		m, _ := f.Message(value)
		pending = append(pending, l.EventLog.Append(topic, events.PartitionOf(id, 2), m))
	}
	for _, p := range pending {
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	testworld.Await(t, func() bool {
		return l.Watcher.Next(events.Workspaces, 0)+l.Watcher.Next(events.Workspaces, 1) >= int64(len(l.streams))
	})
}

// command prepares a run of the command with the settings.
func (l *eventLog) command(t *testing.T, line string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields(line)...)
	cmd.Env = l.settings
	return cmd
}

func (l *eventLog) run(t *testing.T, line string) string {
	t.Helper()
	cmd := l.command(t, line)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("netsim %s: %v\n%s", line, err, said.String())
	}
	return string(out)
}

// TestExportByCommand: the options reach the export, also to an object store.
func TestExportByCommand(t *testing.T) {
	t.Parallel()
	l := newEventLog(t, 50)
	at := time.Now().UTC().Format(time.RFC3339)
	for line, want := range map[string]string{
		"--format ndjson":             ": 50 facts in 2 files",
		"--format csv --file-bytes 1": ": 50 facts in 50 files",
		"--family billing":            ": 0 facts in 0 files",
		"--type netsim.workspace.created.v1,netsim.workspace.deleted.v1":                     ": 50 facts",
		"--type netsim.workspace.deleted.v1":                                                 ": 0 facts",
		"--stream " + events.NewID(events.WorkspacePrefix):                                   ": 0 facts",
		"--workspace " + events.NewID(events.WorkspacePrefix):                                ": 0 facts",
		"--account " + testworld.Account:                                                     ": 50 facts",
		"--account " + events.NewID(events.AccountPrefix):                                    ": 0 facts",
		"--from-time 2020-01-01T00:00:00Z --to-time 2020-01-02T00:00:00Z":                    ": 0 facts",
		"--to-time " + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + " --stall 10s": ": 50 facts",
	} {
		if out := l.run(t, "events export "+line+" --to "+t.TempDir()); !strings.Contains(out, want) {
			t.Errorf("events export %s (at %s) printed %q, want %q", line, at, out, want)
		}
	}
	target := "s3://" + l.bucket + "/some/facts"
	if out := l.run(t, "events export --to "+target); out != target+": 50 facts in 2 files, listed in manifest.json\n" {
		t.Errorf("the export printed %q", out)
	}
	if _, err := l.Objects.Head(t.Context(), "some/facts/"+export.ManifestName); err != nil {
		t.Error(err)
	}
	if out := l.run(t, "events verify "+target); out != "50 facts in 2 files are as the manifest says\n" {
		t.Errorf("verify printed %q", out)
	}
	out, err := l.command(t, "events export --to "+target+" --format csv").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "begun with format parquet, not csv") {
		t.Errorf("another format: %s, %v", out, err)
	}
}

// TestTailByCommand: tail writes the facts that are there and those that come, and ends
// with a signal, a number of facts, or its output.
func TestTailByCommand(t *testing.T) {
	t.Parallel()
	l := newEventLog(t, 20)
	sixth := l.streams[5]
	for line, want := range map[string]int{
		"--stream " + sixth + " --from-beginning -n 1": 1, "--workspace " + sixth + " --type netsim.workspace.created.v1 --since 1h -n 1": 1,
		"--from-beginning -n 7": 7, "--since 1h --count 20": 20, "--family workspaces,billing --from-beginning -n 20": 20,
	} {
		lines := strings.Split(strings.TrimSpace(l.run(t, "events tail "+line)), "\n")
		if len(lines) != want {
			t.Errorf("events tail %s wrote %d lines, want %d", line, len(lines), want)
		}
		for _, one := range lines {
			var e struct{ SpecVersion, Type string }
			if strings.Contains(line, sixth) && !strings.Contains(one, `"subject":"`+sixth+`"`) {
				t.Errorf("events tail %s wrote %s", line, one)
			}
			if err := json.Unmarshal([]byte(one), &e); err != nil || e.SpecVersion != "1.0" || e.Type != "netsim.workspace.created.v1" {
				t.Errorf("a line is %s, %v", one, err)
			}
		}
	}

	following := l.command(t, "events tail --since 1h")
	out, err := following.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := following.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	go func() {
		in := bufio.NewScanner(out)
		for in.Scan() {
			lines <- in.Text()
		}
		close(lines)
	}()
	for range 20 {
		testwait.Receive(t, lines, "a fact that was there")
	}
	l.add(t, 1)
	if line := testwait.Receive(t, lines, "a new fact"); !strings.Contains(line, `"name":"workspace 21"`) {
		t.Errorf("the new fact is %s", line)
	}
	if err := following.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if line := testwait.Receive(t, lines, "the end of the output"); line != "" {
		t.Errorf("after the signal came %s", line)
	}
	if err := testwait.Call(t, following.Wait, "the tail to end"); err != nil {
		t.Errorf("after a signal: %v", err)
	}

	closed := l.command(t, "events tail --from-beginning")
	if out, err = closed.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := closed.Start(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := testwait.Call(t, closed.Wait, "a tail without output to end"); err == nil {
		t.Error("a tail that could not write ended without an error")
	}
}
