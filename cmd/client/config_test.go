package client_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"netsim/internal/servicetest"
)

// TestConfigurationsForPeople follows a user: a copy, an edit, what the edit has changed, and
// whether the configuration is valid.
func TestConfigurationsForPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configured()
	m, id := w.m, w.ids["configuration"]
	matches := func(pattern string, args ...string) {
		t.Helper()
		if out := m.wants(args...); !regexp.MustCompile(pattern).MatchString(out) {
			t.Errorf("netsim %s prints\n%s\nwant %s", strings.Join(args, " "), out, pattern)
		}
	}
	matches(`(?m)^CONFIGURATION .*\n(.*\n)*^`+id+` +1 +\w+ +\S+ \S+ +mine$`, "config", "list", "--search", "MINE")
	matches(`(?m)^name +mine\n(.*\n)*^component +\S+ \(\S+\)$`, "config", "show", id)
	matches(`^the configuration is valid\n$|^SEVERITY`, "config", "validate", id)
	matches(`^`+id+` has version 2\n$`, "config", "edit", id)
	out, code, said := m.run("config", "diff", id)
	if code != 1 || !strings.Contains(said, "they differ") || !regexp.MustCompile(`^version 1 to 2: \d changes\n  .*RandomSeed`).MatchString(out) {
		t.Errorf("exit %d: %s\n%s", code, said, out)
	}
	matches(`^version 2 to 2: 0 changes\n$`, "config", "diff", id, "--from", "2", "--to", "2")
	matches(`^nothing is changed\n$`, "config", "edit", id)
	copied := strings.TrimSpace(m.wants("config", "clone", id, "--name", "old", "--version", "1"))
	if parent := m.wants("config", "show", copied, "--jq", ".parentConfigurationId"); parent != id+"\n" {
		t.Errorf("the copy is of %s", parent)
	}
	m.fails(3, "404", "config", "show", "config_01kahcfv4ge3brkm7dy5s5h2k3")
}

// TestAnEditIsNotLost: an edit that another client was faster than changes nothing. Its text
// is kept, and so is that of an edit that is wrong.
func TestAnEditIsNotLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configured()
	m, id := w.m, w.ids["configuration"]
	edits := func(code int, words string, edit func(path string) error) {
		t.Helper()
		var file string
		m.Edit = func(_ context.Context, path string) error { file = path; return edit(path) }
		m.fails(code, words, "config", "edit", id)
		m.fails(code, "your text is in", "config", "edit", id)
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
	}
	api := w.service.Bearer(t, w.token)
	seed := 10
	edits(4, "412", func(path string) error {
		version := api.Get("/api/v1/configurations/" + id).Want(200).Header.Get("ETag")
		seed++
		api.Patch("/api/v1/configurations/"+id, map[string]any{"globalParameters": seeded(seed), "name": "faster"}, ifMatch(version)).Want(200)
		return w.seed(path, 20)
	})
	if said := m.err.String(); !regexp.MustCompile(`was changed while you edited it:\nversion 1 to 2: \d changes\n  .*RandomSeed.*\n  its name is now faster\n`).MatchString(said) {
		t.Errorf("the command says %q", said)
	}
	if now := m.wants("config", "show", id, "--jq", ".globalParameters.SimulationParameters.RandomSeed.value"); now != "12\n" {
		t.Errorf("the seed is %q", now)
	}
	edits(2, `"name" is missing`, func(path string) error { return w.replace(path, `"name"`, `"title"`) })
	edits(4, "400", func(path string) error { return w.replace(path, `"name"`, `"title": 1, "name"`) })
	edits(1, "the editor ended", func(string) error { return errors.New("the editor ended") })
	edits(2, "this is not the JSON", func(path string) error { return w.replace(path, `{`, `[`) })
}

func ifMatch(version string) servicetest.Header {
	return servicetest.Header{Name: "If-Match", Value: version}
}
