package client_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
)

// TestFeed: events come one a line, from a time on, and go on after the position that the
// last command has left.
func TestFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, position := w.m, w.path("position")
	args := []string{"feed", "--type", "netsim.simulation.completed.v1", "--since", "1h", "--position", position}
	one := m.wants(append(args, "-n", "1")...)
	two := m.wants(append(args, "-n", "1", "--jq", ".subject")...)
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\S+Z netsim.simulation.completed.v1 ` + w.ids["first"] + `\n$`).MatchString(one) {
		t.Errorf("the first event is %q", one)
	}
	if two != w.ids["second"]+"\n" {
		t.Errorf("the event after it is of %q, want %s", two, w.ids["second"])
	}

	// The user ends a feed that waits for the next event.
	ctx, end := context.WithCancel(t.Context())
	id := strings.TrimSpace(m.wants("sim", "submit", w.path("small.json")))
	out, code, said := m.until(ctx, end, append(args, "--json")...)
	if subject := values(t, out)[0].(map[string]any)["subject"]; code != 0 || subject != id {
		t.Errorf("exit %d: %s; the event is of %v, want %s", code, said, subject, id)
	}
	m.fails(2, "--since must be a time", "feed", "--since", "yesterday")
	m.fails(2, "--count must be above zero", "feed", "--count=-1")
	m.fails(4, "400", "feed", "--family", "none")
	m.fails(124, "the time limit of 100ms has passed", "feed", "--timeout", "100ms")
}
