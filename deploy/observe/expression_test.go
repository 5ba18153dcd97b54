package observe_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"netsim/infra/telemetry"
)

var (
	quoted     = regexp.MustCompile(`"[^"]*"`)
	selector   = regexp.MustCompile(`\{[^}]*\}`)
	duration   = regexp.MustCompile(`\[[^\]]*\]`)
	matcher    = regexp.MustCompile(`([a-zA-Z_]+)\s*(=~|!~|!=|=)`)
	grouping   = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	call       = regexp.MustCompile(`\b[a-z_]+\s*\(`)
	identifier = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	keywords   = []string{"and", "or", "unless", "offset", "bool"}
)

// used returns the metrics and the labels of an expression of PromQL. Prometheus itself
// checks the syntax.
func used(expression string) (metrics, labels []string) {
	for _, s := range selector.FindAllString(expression, -1) {
		for _, m := range matcher.FindAllStringSubmatch(quoted.ReplaceAllString(s, `""`), -1) {
			labels = append(labels, m[1])
		}
	}
	rest := duration.ReplaceAllString(quoted.ReplaceAllString(selector.ReplaceAllString(expression, ""), ""), "")
	for _, g := range grouping.FindAllStringSubmatch(rest, -1) {
		labels = append(labels, identifier.FindAllString(g[2], -1)...)
	}
	rest = call.ReplaceAllString(grouping.ReplaceAllString(rest, ""), "(")
	for _, name := range identifier.FindAllString(rest, -1) {
		if !slices.Contains(keywords, name) {
			metrics = append(metrics, name)
		}
	}
	return metrics, labels
}

// known has the names that an expression may use: the catalogue's metrics, those of the
// Go runtime, the process and Prometheus, recorded series, and their labels.
type known struct{ metrics, labels map[string]bool }

func newKnown(rules ruleFile) known {
	k := known{map[string]bool{}, map[string]bool{}}
	for _, label := range []string{"job", "instance", "le"} {
		k.labels[label] = true
	}
	for _, m := range telemetry.Catalogue() {
		for _, label := range m.Labels {
			k.labels[label] = true
		}
		names := []string{""}
		if m.Kind == telemetry.Histogram {
			names = []string{"_bucket", "_sum", "_count"}
		}
		for _, suffix := range names {
			k.metrics[m.Name+suffix] = true
		}
	}
	for _, name := range []string{
		"up", "ALERTS", "process_start_time_seconds", "process_resident_memory_bytes", "process_cpu_seconds_total", "go_goroutines", "go_memstats_heap_inuse_bytes",
	} {
		k.metrics[name] = true
	}
	for _, label := range []string{"alertname", "alertstate", "severity"} { // of ALERTS
		k.labels[label] = true
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				k.metrics[r.Record] = true
			}
		}
	}
	return k
}

// check fails the test if an expression uses a metric or a label that does not exist.
func (k known) check(t *testing.T, where, expression string) {
	t.Helper()
	metrics, labels := used(expression)
	if len(metrics) == 0 {
		t.Errorf("%s: %q uses no metric", where, expression)
	}
	for _, name := range metrics {
		if !k.metrics[name] {
			t.Errorf("%s uses the metric %s, which neither docs/metrics.md nor a recording rule has", where, name)
		}
	}
	for _, label := range labels {
		if !k.labels[label] {
			t.Errorf("%s uses the label %s, which no metric has", where, label)
		}
	}
}

func TestUsedNames(t *testing.T) {
	t.Parallel()
	metrics, labels := used(`sum by (a, b) (rate(x_total{c="y{z", d=~"e|f"}[5m])) / on (g) x:ratio > 14.4 * 0.001 unless max(up == 1)`)
	if got := strings.Join(metrics, " "); got != "x_total x:ratio up" {
		t.Errorf("metrics %q, want x_total x:ratio up", got)
	}
	slices.Sort(labels)
	if got := strings.Join(labels, " "); got != "a b c d g" {
		t.Errorf("labels %q, want a b c d g", got)
	}
}
