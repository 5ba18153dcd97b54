package service_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"netsim/events"
	"netsim/infra/telemetry"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// exposed returns the types and labels of the metrics in a scrape, without the metrics
// of the Go runtime and the process.
func exposed(text string) (kinds map[string]string, labels map[string][]string) {
	kinds, labels = map[string]string{}, map[string][]string{}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); words[0] == "#" && words[1] == "TYPE" {
			if name := words[2]; !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
				kinds[name] = words[3]
			}
			continue
		}
		name, rest, _ := strings.Cut(line, "{")
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			if base := strings.TrimSuffix(name, suffix); kinds[base] != "" {
				name = base
			}
		}
		if kinds[name] == "" {
			continue
		}
		labels[name] = []string{}
		for pair := range strings.SplitSeq(strings.SplitN(rest, "}", 2)[0], `",`) {
			if label, _, isOne := strings.Cut(pair, "="); isOne && label != "le" {
				labels[name] = append(labels[name], label)
			}
		}
	}
	return kinds, labels
}

// TestMetricsOfEveryRole: a process exposes exactly the metrics that docs/metrics.md
// lists for its role, with the listed types and labels. Prometheus' linter finds no
// problem.
func TestMetricsOfEveryRole(t *testing.T) {
	t.Parallel()
	d := newProxied(t)
	names := []string{"projector", "api", "reactor", "worker"}
	for _, name := range names {
		d.start(name)
	}
	client := d.client("api")
	client.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201)
	client.Get("/api/v1/workspaces/"+events.NewID(events.WorkspacePrefix)).Refused(404, "NOT_FOUND")
	for _, name := range names {
		listed, labels := map[string]string{}, map[string][]string{}
		for _, m := range telemetry.Catalogue() {
			if slices.ContainsFunc(m.Roles, func(role string) bool { return slices.Contains(processes[name], role) }) {
				listed[m.Name], labels[m.Name] = string(m.Kind), slices.Sorted(slices.Values(m.Labels))
			}
		}
		want := maps.Clone(listed)
		for _, may := range []string{ // exposed only when there is something to count
			"netsim_http_refused_total", "netsim_jobs", "netsim_jobs_oldest_seconds", "netsim_runs", "netsim_log_checkpoint_age_seconds",
			"netsim_billing_accrual_age_seconds", "netsim_certificate_expiry_timestamp_seconds", "netsim_memory_limit_bytes",
			"netsim_token_reads_total", "netsim_standby_retries_total", "netsim_standby_used", "netsim_standby_age_seconds",
		} {
			delete(want, may)
		}
		var text string
		var kinds map[string]string
		var found map[string][]string
		var missing []string
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("%s does not expose %v", name, missing)
			}
		})
		testworld.Await(t, func() bool {
			text = servicetest.Scrape(t, d.ops[name])
			kinds, found = exposed(text)
			missing = slices.DeleteFunc(slices.Sorted(maps.Keys(want)), func(m string) bool { return kinds[m] != "" })
			return len(missing) == 0
		})
		for m, kind := range kinds {
			if listed[m] != kind {
				t.Errorf("%s exposes %s of type %s, which docs/metrics.md does not list for it", name, m, kind)
			}
			if diff := cmp.Diff(labels[m], slices.Sorted(slices.Values(found[m]))); len(labels[m])+len(found[m]) > 0 && diff != "" {
				t.Errorf("%s: labels of %s (-page +exposed):\n%s", name, m, diff)
			}
		}
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: Prometheus' linter: %v, %v", name, problems, err)
		}
		if folder := os.Getenv("NETSIM_SCRAPES"); folder != "" { // for promtool (.ci/metrics)
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSeriesAreBounded: the number of time series does not grow with the ids, accounts
// and paths that clients send.
func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	traffic := func(rounds int) {
		for i := range rounds {
			user := p.Service(t, servicetest.NewAccount())
			made := user.Post("/api/v1/workspaces", map[string]any{"name": fmt.Sprint("w", i)}).Want(201).Object()
			user.Get(fmt.Sprint("/api/v1/workspaces/", made["id"])).Want(200)
			user.Get("/api/v1/workspaces/"+events.NewID(events.WorkspacePrefix)).Refused(404, "NOT_FOUND")
			user.Get(fmt.Sprint("/nothing/", i)).Want(404)
		}
	}
	series := func() map[string]int {
		counts := map[string]int{}
		for line := range strings.Lines(servicetest.Scrape(t, p.Ops)) {
			name, _, _ := strings.Cut(line, "{")
			if !strings.HasPrefix(line, "#") && !strings.HasSuffix(name, "_bucket") {
				counts[name]++
			}
		}
		return counts
	}
	traffic(3)
	before := series()
	const rounds = 40 // exceeds the series that new SQL operations, outcomes and job kinds add
	traffic(rounds)
	for name, count := range series() {
		if count >= before[name]+rounds {
			t.Errorf("after %d more accounts %s has %d series, before %d", rounds, name, count, before[name])
		}
	}
}
