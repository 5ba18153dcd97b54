//go:build tools

package observe_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// broken is one way in which a deployment breaks.
type broken struct {
	name   string
	alerts []string // name/severity of those that must fire
	also   []string // of those that may fire too, because of the same cause
	sized  bool     // belongs to the test that always runs
	gone   bool     // the only process of a role does not answer, so panels have no data
	break_ func(s *site)
	mend   func(s *site)
}

// TestAlertsFire breaks a deployment with a process for each role, in each way in which
// it breaks in life, and sees by Prometheus with the shipped rules, whose durations are
// divided by 30, that exactly the expected alerts fire. After the repair, which does what
// the runbook says, no alert fires.
//
// It breaks several things at once. With NETSIM_TEST_ALERTS=all it breaks everything, one
// after the other, and sees that every alert of the rules fires; that takes a quarter of
// an hour. With names, separated by commas, it breaks those. The deployment has one broker, and
// the disk of the machine: promtool alone judges the alerts about several brokers, a full disk, and receivers of webhooks that fail for days.
func TestAlertsFire(t *testing.T) {
	t.Parallel()
	which := os.Getenv("NETSIM_TEST_ALERTS")
	s := newSite(t)
	s.quiet()
	var groups [][]broken
	var together []broken
	for _, b := range breaks() {
		switch {
		case which == "" && b.sized:
			together = append(together, b)
		case which == "all" || slices.Contains(strings.Split(which, ","), b.name):
			groups = append(groups, []broken{b})
		}
	}
	if len(together) > 0 {
		groups = append(groups, together)
	}
	if len(groups) == 0 {
		t.Fatalf("NETSIM_TEST_ALERTS is %q: it must be all, or names of what breaks, separated by commas", which)
	}
	s.unexpected = t.Logf
	if which != "" {
		s.unexpected = t.Errorf // the machine does nothing else
	}
	fired := map[string]bool{}
	for _, group := range groups {
		for name := range s.breakAndMend(group) {
			fired[name] = true
		}
	}
	if which != "all" {
		return
	}
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			if name := r.Alert + "/" + r.Labels["severity"]; r.Alert != "" && !fired[name] && !slices.Contains(elsewhere, r.Alert) {
				t.Errorf("%s has not fired", name)
			}
		}
	}
}

// elsewhere lists the alerts that a deployment of the test cannot have.
var elsewhere = []string{"NetsimBrokerDown", "NetsimReplicasOutOfSync", "NetsimTemporaryFilesFull", "NetsimWebhookReceiversFailing"}

// quiet waits until no alert has fired for five seconds. A machine that is busy can make
// requests slow for a while.
func (s *site) quiet() {
	s.t.Helper()
	began := time.Now()
	for deadline := time.Now().Add(3 * time.Minute); time.Since(began) < 5*time.Second; s.pause() {
		if firing := s.prometheus.firing(); len(firing) > 0 {
			if time.Now().After(deadline) {
				s.t.Fatalf("without a fault these alerts fire: %v", firing)
			}
			s.t.Logf("without a fault these alerts fire: %v", firing)
			began = time.Now()
		}
	}
}

func (s *site) pause() {
	select {
	case <-time.After(time.Second):
	case <-s.t.Context().Done():
	}
}

// breakAndMend breaks some parts at once, waits until each expected alert has fired,
// mends the parts, and waits until no alert fires. It returns the alerts that fired.
func (s *site) breakAndMend(group []broken) (fired map[string]string) {
	s.t.Helper()
	var names, want, may []string
	for _, b := range group {
		names = append(names, b.name)
		want, may = append(want, b.alerts...), append(may, b.also...)
	}
	began := time.Now()
	for _, b := range group {
		b.break_(s)
	}
	fired = map[string]string{}
	missing := func() []string {
		return slices.DeleteFunc(slices.Clone(want), func(name string) bool { return fired[name] != "" })
	}
	for deadline := time.Now().Add(5 * time.Minute); len(missing()) > 0; s.pause() {
		if time.Now().After(deadline) {
			s.t.Fatalf("%v: after five minutes these alerts have not fired: %v", names, missing())
		}
		maps.Copy(fired, s.prometheus.firing())
	}
	took := time.Since(began).Round(time.Second)
	if !slices.ContainsFunc(group, func(b broken) bool { return b.gone }) {
		s.dashboardHasData()
	}
	for _, b := range group {
		b.mend(s)
	}
	began = time.Now()
	firing := s.prometheus.firing()
	for deadline := time.Now().Add(5 * time.Minute); len(firing) > 0; s.pause() {
		if time.Now().After(deadline) {
			s.t.Fatalf("%v: five minutes after the repair these alerts fire: %v", names, firing)
		}
		firing = s.prometheus.firing()
		maps.Copy(fired, firing)
	}
	for name, summary := range fired {
		if !slices.Contains(want, name) && !slices.Contains(may, name) {
			s.unexpected("%v: %s fires, too: %s", names, name, summary)
		}
	}
	s.t.Logf("%s: fired after %v, over %v after the repair: %s", strings.Join(names, ", "), took, time.Since(began).Round(time.Second),
		strings.Join(slices.Sorted(maps.Keys(fired)), ", "))
	return fired
}
