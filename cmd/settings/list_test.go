package settings

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSettingsAreDescribed: settings.md describes every field of Config, in the same
// order and groups, and nothing else.
func TestSettingsAreDescribed(t *testing.T) {
	t.Parallel()
	_, entries := readSettingsText(settingsText)
	var described, fields, headings []string
	for _, e := range entries {
		described = append(described, e.variable)
		headings = append(headings, e.group)
	}
	for _, s := range All() {
		fields = append(fields, s.Variable)
		if !strings.HasSuffix(s.Meaning, ".") {
			t.Errorf("settings.md does not say in sentences what %s means: %q", s.Variable, s.Meaning)
		}
		if !slices.ContainsFunc([]string{"Change it ", "Set it ", "Keep it"}, func(begin string) bool { return strings.HasPrefix(s.Change, begin) }) {
			t.Errorf("settings.md says of %s %q, want a second paragraph that begins with Change it, Set it or Keep it", s.Variable, s.Change)
		}
		for _, role := range s.Roles {
			if !slices.Contains(EveryRole(), role) {
				t.Errorf("the tag of %s names the role %q, which does not exist", s.Variable, role)
			}
		}
		if s.Allowed == "" || s.Group == "" {
			t.Errorf("%s is incomplete: %+v", s.Variable, s)
		}
	}
	if diff := cmp.Diff(fields, described); diff != "" {
		t.Errorf("the fields of Config and the entries of settings.md (-config.go +settings.md):\n%s", diff)
	}
	source, err := os.ReadFile("config.go")
	if err != nil {
		t.Fatal(err)
	}
	structure, _, _ := strings.Cut(string(source), "\n}\n")
	var comments []string
	for _, m := range regexp.MustCompile(`(?m)^\t// (.*)$`).FindAllStringSubmatch(structure, -1) {
		comments = append(comments, m[1])
	}
	if diff := cmp.Diff(comments, slices.Compact(headings)); diff != "" {
		t.Errorf("groups (-config.go +settings.md):\n%s", diff)
	}
}

// TestSettingsAreInTheGuide: docs/settings.md has the list that is generated.
func TestSettingsAreInTheGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), Document()) {
		t.Error("the list of settings in docs/settings.md is out of date; run go generate ./cmd/settings")
	}
}
