package observe_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const runbook = "../../docs/runbook.md"

// ruleFile is rules.yaml.
type ruleFile struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	} `yaml:"groups"`
}

type rule struct {
	Record      string            `yaml:"record,omitempty"`
	Alert       string            `yaml:"alert,omitempty"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

func readRules(t *testing.T) ruleFile {
	t.Helper()
	text, err := os.ReadFile("rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules ruleFile
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	return rules
}

// sections returns the sections of the runbook by their heading.
func sections(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(runbook)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		if found[heading] != "" {
			t.Errorf("the runbook has two sections %s", heading)
		}
		found[heading] = body
	}
	return found
}

// TestRules: every expression uses metrics and labels that exist. Every alert says how
// urgent it is and what happens, and links its section of the runbook, which has each of
// the five parts. The runbook has no other sections.
func TestRules(t *testing.T) {
	t.Parallel()
	rules, pages := readRules(t), sections(t)
	names := newKnown(rules)
	linked := map[string]bool{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			names.check(t, r.Record+r.Alert, r.Expr)
			if r.Alert == "" {
				continue
			}
			linked[r.Alert] = true
			if s := r.Labels["severity"]; s != "page" && s != "ticket" {
				t.Errorf("%s has the severity %q, want page or ticket", r.Alert, s)
			}
			if r.Annotations["summary"] == "" {
				t.Errorf("%s has no summary", r.Alert)
			}
			if got, want := r.Annotations["runbook_url"], "{{ $externalLabels.runbooks }}#"+strings.ToLower(r.Alert); got != want {
				t.Errorf("%s has the runbook_url %q, want %q", r.Alert, got, want)
			}
			page := pages[r.Alert]
			for _, part := range []string{"**From.**", "**Means.**", "**Look at.**", "**Do.**", "**Over.**"} {
				if !strings.Contains(page, part) {
					t.Errorf("the runbook's section %s lacks %s", r.Alert, part)
				}
			}
		}
	}
	for heading := range pages {
		if !linked[heading] {
			t.Errorf("the runbook has a section %s, which no alert has", heading)
		}
	}
}

// TestLatencyCountsReadsAndWrites: the objectives of latency count exactly the operations
// that the contract gives the cost classes read and write.
func TestLatencyCountsReadsAndWrites(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var contract struct {
		Paths map[string]map[string]yaml.Node
	}
	if err := yaml.Unmarshal(text, &contract); err != nil {
		t.Fatal(err)
	}
	excluded := regexp.MustCompile(`http_route!~"([^"]*)"`)
	method := regexp.MustCompile(`http_request_method=~?"([^"]*)"`)
	counted := func(record, verb, path string) bool {
		for _, g := range readRules(t).Groups {
			for _, r := range g.Rules {
				if r.Record == record {
					is := regexp.MustCompile("^(?:" + method.FindStringSubmatch(r.Expr)[1] + ")$").MatchString(strings.ToUpper(verb))
					return is && !regexp.MustCompile("^(?:"+excluded.FindStringSubmatch(r.Expr)[1]+")$").MatchString(path)
				}
			}
		}
		t.Fatalf("there is no rule %s", record)
		return false
	}
	operations := 0
	for path, verbs := range contract.Paths {
		for verb, node := range verbs {
			var operation struct {
				Access struct{ Class string } `yaml:"x-netsim-access"`
			}
			if !slices.Contains([]string{"get", "post", "put", "patch", "delete"}, verb) || node.Decode(&operation) != nil {
				continue
			}
			operations++
			class := operation.Access.Class
			wantWrite := class == "write" || class == "read" && verb != "get"
			wantRead := class == "read" && verb == "get" && !strings.HasPrefix(path, "/api/v1/health")
			if got := counted("netsim:writes_slow:ratio_rate5m", verb, path); got != wantWrite {
				t.Errorf("%s %s of class %s counts as a write: %v, want %v", verb, path, class, got, wantWrite)
			}
			if got := counted("netsim:reads_slow:ratio_rate5m", verb, path); got != wantRead {
				t.Errorf("%s %s of class %s counts as a read: %v, want %v", verb, path, class, got, wantRead)
			}
		}
	}
	if operations < 50 {
		t.Errorf("the contract has %d operations, want at least 50", operations)
	}
}
