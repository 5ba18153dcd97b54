package engines_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/infra/engines"
	"netsim/internal/scripted"
	"netsim/internal/teststack"
)

func TestMain(m *testing.M) { os.Exit(scripted.Main(m)) }

func client(t *testing.T, timeout time.Duration, urls ...string) *engines.Client {
	t.Helper()
	c, err := engines.New(engines.Config{URLs: urls, Token: "secret", Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func completed() scripted.Script {
	return scripted.Script{
		Run:          scripted.Run{State: "completed", SimulatedTimeNs: 10, EventsProcessed: 20, FinishedRanks: 8, End: json.RawMessage(`{"state":"finished"}`)},
		Logs:         []string{"one", "two\nlines"},
		Files:        map[string]string{"a/b.csv": "x,y\n1,2\n"},
		Capabilities: []string{"terminate", "No Capability"},
	}
}

func TestARunFromOrderToFree(t *testing.T) {
	t.Parallel()
	e := scripted.Start(t, completed())
	c := client(t, time.Minute, e.URL+"/")
	ctx := t.Context()

	about, err := c.Describe(ctx, e.URL)
	if err != nil || about != (engines.About{Engine: "scripted", Version: "0.1"}) {
		t.Errorf("Describe = %+v, %v; want engine scripted, version 0.1", about, err)
	}
	run, err := c.Order(ctx, "sim_1", []byte(`{"simulationId":"sim_1"}`))
	want := engines.Run{BaseURL: e.URL, ID: "run-0-1", Capabilities: []string{"terminate"}}
	if diff := cmp.Diff(want, run); diff != "" || err != nil {
		t.Fatalf("Order: error %v, run (-want +got):\n%s", err, diff)
	}
	s, err := c.Status(ctx, run)
	done := engines.Status{
		State: "completed", SimulatedTimeNs: 10, EventsProcessed: 20, FinishedRanks: 8, End: json.RawMessage(`{"state":"finished"}`),
	}
	if diff := cmp.Diff(done, s); diff != "" || err != nil {
		t.Errorf("Status: error %v, status (-want +got):\n%s", err, diff)
	}
	logs, err := c.Logs(ctx, run, 1)
	if err != nil || len(logs) != 1 || logs[0].Number != 2 || logs[0].Message != "two lines" {
		t.Errorf("Logs after 1 = %+v, %v; want entry 2 in one line", logs, err)
	}
	files, err := c.Results(ctx, run)
	if err != nil || len(files) != 1 || files[0].Name != "a/b.csv" {
		t.Fatalf("Results = %+v, %v; want a/b.csv", files, err)
	}
	var content bytes.Buffer
	if err := c.Download(ctx, run, files[0], &content); err != nil || content.String() != "x,y\n1,2\n" {
		t.Errorf("Download wrote %q, %v; want the file's content", &content, err)
	}
	if err := errors.Join(c.Terminate(ctx, run), c.Free(ctx, run)); err != nil {
		t.Error(err)
	}
	for _, call := range e.Calls("") {
		if call.Token != "secret" {
			t.Errorf("call %+v, want the token %q", call, "secret")
		}
	}
}

// An order goes to the next engine when one is down or busy. Orders of one
// simulation always try the same engine first.
func TestOrderTriesTheEnginesInTurn(t *testing.T) {
	t.Parallel()
	a, b := scripted.Start(t, completed()), scripted.Start(t, completed())
	down := "http://" + teststack.FreeAddress(t)
	c := client(t, time.Minute, a.URL, down, b.URL)
	runs := map[string]int{} // by engine
	for _, sim := range []string{"sim_1", "sim_2", "sim_3", "sim_4", "sim_5", "sim_6", "sim_7", "sim_8"} {
		first, err := c.Order(t.Context(), sim, []byte(`{"simulationId":"`+sim+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.Order(t.Context(), sim, []byte(`{"simulationId":"`+sim+`"}`))
		if err != nil || again.ID != first.ID || again.BaseURL != first.BaseURL {
			t.Errorf("order of %s again = %+v, %v; want the first run %+v", sim, again, err, first)
		}
		runs[first.BaseURL]++
	}
	if len(runs) != 2 {
		t.Errorf("runs by engine = %v, want two engines", runs)
	}
	busy := completed()
	busy.Answers = map[string]scripted.Answer{"order": {Status: 503}}
	a.Do(busy)
	b.Do(busy)
	_, err := c.Order(t.Context(), "sim_9", []byte(`{}`))
	if err == nil || strings.Count(err.Error(), "the engine") != 3 || errors.As(err, new(*engines.Refused)) {
		t.Errorf("error %v, want one with the errors of all three engines", err)
	}
	if _, err := client(t, time.Minute).Order(t.Context(), "sim_1", nil); err == nil {
		t.Error("Order without engines: no error")
	}
}

// The error of a failed call says what is wrong with the answer.
func TestErrorsOfCalls(t *testing.T) {
	t.Parallel()
	e := scripted.Start(t, completed())
	c, shortTimeout := client(t, time.Minute, e.URL), client(t, 300*time.Millisecond, e.URL)
	run := engines.Run{BaseURL: e.URL, ID: "run"}
	ctx := t.Context()
	status := func() error { _, err := c.Status(ctx, run); return err }
	late := func() error { _, err := shortTimeout.Status(ctx, run); return err }
	order := func() error { _, err := c.Order(ctx, "sim", []byte("{}")); return err }
	logs := func() error { _, err := c.Logs(ctx, run, 3); return err }
	results := func() error { _, err := c.Results(ctx, run); return err }
	const sum = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	listed := func(file string) string { return `{"files":[` + file + `]}` }
	for name, c := range map[string]struct {
		call   string
		answer scripted.Answer
		do     func() error
		want   string // in the error
	}{
		"late":            {"status", scripted.Answer{Delay: time.Minute}, late, "does not answer"},
		"unknown run":     {"status", scripted.Answer{Status: 404, Body: `{"error":{"message":"gone\u0007 now"}}`}, status, "status 404: gone  now"},
		"moved elsewhere": {"status", scripted.Answer{Status: 307, Header: map[string]string{"Location": e.URL + "/capabilities"}}, status, "status 307"},
		"no json":         {"status", scripted.Answer{Status: 200, Body: "<html>"}, status, "protocol"},
		"no state":        {"status", scripted.Answer{Status: 200, Body: `{"simulatedTimeNs":1,"eventsProcessed":1}`}, status, `state ""`},
		"no time":         {"status", scripted.Answer{Status: 200, Body: `{"state":"running","eventsProcessed":1}`}, status, "lacks"},
		"negative time":   {"status", scripted.Answer{Status: 200, Body: `{"state":"running","simulatedTimeNs":-1,"eventsProcessed":1}`}, status, "negative"},
		"huge":            {"status", scripted.Answer{Status: 200, Body: `"` + strings.Repeat("x", 9<<20) + `"`}, status, "more than 8388608 bytes"},
		"refused":         {"order", scripted.Answer{Status: 422, Body: `{"error":{"message":"too large"}}`}, order, "refuses the run: too large"},
		"no run id":       {"order", scripted.Answer{Status: 201, Body: `{"runId":"../x"}`}, order, "run id"},
		"old log entries": {"logs", scripted.Answer{Status: 200, Body: `{"logs":[{"number":3,"level":"info"}]}`}, logs, "log entry 3 after 3"},
		"odd level":       {"logs", scripted.Answer{Status: 200, Body: `{"logs":[{"number":4,"level":"loud"}]}`}, logs, "loud"},
		"path upwards":    {"results", scripted.Answer{Status: 200, Body: listed(`{"name":"../a","size":0,"checksum":"` + sum + `"}`)}, results, "name"},
		"two alike":       {"results", scripted.Answer{Status: 200, Body: listed(`{"name":"a","checksum":"` + sum + `"},{"name":"a","checksum":"` + sum + `"}`)}, results, "two"},
		"no checksum":     {"results", scripted.Answer{Status: 200, Body: listed(`{"name":"a","size":0,"checksum":"md5:00"}`)}, results, "checksum"},
		"negative size":   {"results", scripted.Answer{Status: 200, Body: listed(`{"name":"a","size":-1,"checksum":"` + sum + `"}`)}, results, "-1 bytes"},
	} {
		t.Run(name, func(t *testing.T) { // not parallel: the cases share the engine's script
			s := completed()
			s.Answers = map[string]scripted.Answer{c.call: c.answer}
			e.Do(s)
			if err := c.do(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Status(canceled, run); !errors.Is(err, context.Canceled) || errors.As(err, new(*engines.Unreachable)) {
		t.Errorf("error with a canceled context = %v, want %v and not Unreachable", err, context.Canceled)
	}
	if _, err := c.Status(ctx, engines.Run{BaseURL: "http://elsewhere", ID: "run"}); !errors.As(err, new(*engines.Unreachable)) {
		t.Errorf("error for an engine that is not configured = %v, want Unreachable", err)
	}
}

func TestDownloadsAreChecked(t *testing.T) {
	t.Parallel()
	e := scripted.Start(t, completed())
	c := client(t, time.Minute, e.URL)
	run, err := c.Order(t.Context(), "sim", []byte(`{"simulationId":"sim"}`))
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.Results(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for lie, want := range map[string]string{
		"x,y\n1,3\n": "does not match its checksum", "x": "does not have the 8 bytes", "x,y\n1,2\n3,4\n": "does not have the 8 bytes",
	} {
		s := completed()
		s.Lies = map[string]string{"a/b.csv": lie}
		e.Do(s)
		err := c.Download(t.Context(), run, files[0], io.Discard)
		if !errors.As(err, new(*engines.Garbled)) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	full := errors.New("disk full")
	e.Do(completed())
	if err := c.Download(t.Context(), run, files[0], failing{full}); err != full {
		t.Errorf("error %v, want the writer's error %v", err, full)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestAddressesOfEngines(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "engine:80", "ftp://engine", "http://user:pass@engine", "http://engine?x=1", "http://engine#x", "http://"} {
		if _, err := engines.New(engines.Config{URLs: []string{bad}}); err == nil {
			t.Errorf("New with the engine address %q: no error", bad)
		}
	}
}
