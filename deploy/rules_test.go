package deploy

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestChartHasTheAlerts: the chart has the rules of deploy/observe byte for byte, and a
// rendered PrometheusRule has all of them, with their templates. It is off by default.
func TestChartHasTheAlerts(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("observe/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if chart, err := os.ReadFile("chart/rules.yaml"); err != nil || !bytes.Equal(chart, source) {
		t.Errorf("chart/rules.yaml is not observe/rules.yaml (%v): go generate ./deploy/observe copies it", err)
	}
	names := func(file string) (all map[string]any, kinds int) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = map[string]any{}
		for part := range strings.SplitSeq(string(text), "\n---\n") {
			var m struct {
				Kind string
				Spec struct {
					Groups []struct {
						Name  string
						Rules []map[string]any
					}
				}
				Groups []struct {
					Name  string
					Rules []map[string]any
				}
			}
			if err := yaml.Unmarshal([]byte(part), &m); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if m.Kind == "PrometheusRule" {
				kinds++
				m.Groups = m.Spec.Groups
			}
			if m.Kind != "" && m.Kind != "PrometheusRule" {
				continue
			}
			for _, g := range m.Groups {
				all[g.Name] = g.Rules
			}
		}
		return all, kinds
	}
	want, _ := names("observe/rules.yaml")
	got, kinds := names("check/rendered/everything.yaml")
	if kinds != 1 || len(want) == 0 || !sameYAML(t, want, got) {
		t.Errorf("%d PrometheusRules are rendered, with other rules than observe/rules.yaml", kinds)
	}
	if _, kinds := names("check/rendered/default.yaml"); kinds != 0 {
		t.Error("a PrometheusRule is rendered by default")
	}
}

func sameYAML(t *testing.T, a, b any) bool {
	t.Helper()
	left, err := yaml.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	right, err := yaml.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(left, right)
}
