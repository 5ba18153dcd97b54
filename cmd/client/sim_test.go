package client_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSimulationsForPeople follows a user: a submission, its end, its results and why they
// are so, and a comparison with another run.
func TestSimulationsForPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, first := w.m, w.ids["first"]
	matches := func(pattern string, args ...string) {
		t.Helper()
		if out := m.wants(args...); !regexp.MustCompile(pattern).MatchString(out) {
			t.Errorf("netsim %s prints\n%s\nwant %s", strings.Join(args, " "), out, pattern)
		}
	}
	matches(`^sim_\w+ completed, simulated time [\d.]+\w+\n$`, "sim", "submit", w.path("small.json"), "--watch")
	matches(`^SIMULATION +STATUS +CREATED +NAME\nsim_\w+ +completed .*\n$`, "sim", "list", "--limit", "1", "--status", "completed")
	matches(first+` .*first\n$`, "sim", "list", "--search", "FIRS")
	matches(`(?m)^simulated time .*\n^FILE +TYPE +SIZE\n(.*\n)*^summary.json `, "sim", "results", first)
	matches(`^`+regexp.QuoteMeta(w.path("receipt.json"))+"\n$", "sim", "results", first, "--get", "receipt.json", "--to", w.dir)
	if !json.Valid([]byte(read(t, w.path("receipt.json")))) {
		t.Error("the file is not what was downloaded")
	}
	matches(`^The critical path, [\d.]+ us\n  computation +\d+\.\d %( #+)?\n(.*\n)*\nWhat limited`, "sim", "explain", first)
	for _, width := range []int{40, 120} {
		m.Columns = width
		for line := range strings.Lines(m.wants("sim", "explain", first)) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("at %d columns there is a line of %d: %s", width, n, line)
			}
		}
	}
	matches(`(?m)^simulated time +(\d+) +\d+ +ps$`, "sim", "compare", first, w.ids["second"])
	w.write("other.json", strings.Replace(small, "1048576", "2097152", 1))
	other := strings.TrimSpace(m.wants("sim", "submit", w.path("other.json")))
	m.wants("sim", "watch", other)
	m.fails(1, "they differ", "sim", "compare", first, other)
	if m.err.String() != "" {
		t.Errorf("without a terminal the commands say %s", m.err.String())
	}
	m.Live = true
	m.wants("sim", "watch", other)
	if !regexp.MustCompile(`\r\w+ +\d+% \|.*\r *\r$`).MatchString(m.err.String()) {
		t.Errorf("on a terminal the command shows %q", m.err.String())
	}
	m.fails(3, "404", "sim", "watch", "sim_01kahcfv4ge3brkm7dy5s5h2k3")
	m.fails(2, `unknown field "rank"`, "sim", "submit", w.written("wrong.json", `{"workload": {"rank": 8}}`))
	m.fails(4, "workload.ranks", "sim", "submit", w.written("refused.json", strings.Replace(small, "8", "-1", 1)))
	m.In = strings.NewReader(small)
	matches(`^sim_\w+\n$`, "sim", "submit", "-")
}

// TestSimulationOfATemplate: a template becomes a configuration that is simulated, and a
// configuration is simulated again.
func TestSimulationOfATemplate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configured()
	template := w.ids["template"]
	id := strings.TrimSpace(w.m.wants("sim", "submit", "--template", template, "--name", "of-a-template", "--duration", "1us"))
	run := values(t, w.m.wants("sim", "list", "--search", "of-a-template", "--json"))[0].([]any)[0].(map[string]any)
	if run["id"] != id {
		t.Errorf("the simulation is %v, not %s", run, id)
	}
	again := w.m.wants("sim", "submit", "--configuration", run["configurationId"].(string), "--name", "again", "--duration", "1us")
	w.m.run("sim", "stop", strings.TrimSpace(again))
	w.m.run("sim", "stop", id)
	w.m.fails(2, "need --name and --duration", "sim", "submit", "--template", template)
}

// TestAFileStaysInItsDirectory: a name of a file leads nowhere else.
func TestAFileStaysInItsDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.m.fails(1, "is outside of", "sim", "results", w.ids["first"], "--get", "../summary.json", "--to", filepath.Join(w.dir, "to"))
}
