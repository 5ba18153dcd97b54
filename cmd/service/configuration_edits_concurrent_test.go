package service_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// attempt is an edit that an editor sends, and its replies. The editor may send several
// copies at once with the same idempotency key.
type attempt struct {
	edit
	conditional bool // If-Match has the version that the editor knows
	copies      int

	match   int // the version in If-Match, or 0
	made    int // the version that the edit made, according to its replies; 0 if it was refused
	replies []servicetest.Reply
}

// script draws the edits of one editor. Every edit has a new number, so an edit that
// succeeds makes a version, unless it attaches what is already attached.
func script(t *rapid.T, editor int, start *versionModel) []*attempt {
	script := make([]*attempt, rapid.IntRange(1, 3).Draw(t, "edits"))
	for i := range script {
		number := float64(100*(editor+2) + i)
		e := generator{t, number, []*versionModel{start}}.edit()
		a := &attempt{edit: e, copies: rapid.SampledFrom([]int{1, 1, 1, 3}).Draw(t, "copies")}
		// Without If-Match, the reply to an edit that makes no version does not show
		// which version the edit was compared with.
		a.conditional = e.row == 4 || e.row == 31 || e.row >= 35 || rapid.Bool().Draw(t, "conditional")
		script[i] = a
	}
	return script
}

// run sends the edits of a script.
func (c *configuration) run(t *rapid.T, script []*attempt) {
	known := 1
	for _, a := range script {
		match := ""
		if a.conditional {
			a.match, match = known, strconv.Quote(strconv.Itoa(known))
		}
		key := servicetest.Header{Name: "Idempotency-Key", Value: events.NewID("key")}
		a.replies = make([]servicetest.Reply, a.copies)
		var all sync.WaitGroup
		for i := range a.replies {
			all.Go(func() { a.replies[i] = c.send(a.edit, match, key) })
		}
		testwait.Group(t, &all, "all copies of the edit")
		for _, r := range a.replies {
			known = max(known, a.record(r))
		}
		if a.made == 0 { // another editor may have been faster
			known = versionOf(c.account.user.Get(c.path))
		}
	}
}

// record updates made from a reply, and returns the version in the reply.
func (a *attempt) record(r servicetest.Reply) int {
	if r.Status >= 300 {
		return 0
	}
	tag := versionOf(r)
	switch {
	case a.match > 0:
		a.made = a.match + 1
	case a.made == 0 || tag < a.made: // a retry may return a later version
		a.made = tag
	}
	return tag
}

func versionOf(r servicetest.Reply) int {
	n, _ := strconv.Atoi(strings.Trim(r.Header.Get("ETag"), `"`))
	return n
}

// watch reads the configuration until done is closed. It returns the body of each
// version that it read, and a description of an inconsistent reply, or "".
func (c *configuration) watch(done <-chan struct{}) (seen map[int]string, wrong string) {
	seen = map[int]string{}
	for last := 1; ; {
		r := c.account.user.Get(c.path)
		now := versionOf(r)
		if now < last || r.Object()["version"] != float64(now) {
			wrong = fmt.Sprintf("version %d is followed by %s with the tag %d", last, r.Body, now)
		}
		last = now
		seen[now] = string(c.account.user.Get(c.path + "/versions/" + strconv.Itoa(now)).Body)
		select {
		case <-done:
			return seen, wrong
		default:
		}
	}
}

// replay checks the versions against the successful edits: each version is the
// previous version with exactly one successful edit, and every such edit made a
// version.
func (c *configuration) replay(t *rapid.T, attempts []*attempt, seen map[int]string) {
	listed := c.account.user.Get(c.path + "/versions").Object()["versions"].(array)
	for i, v := range listed {
		if v.(object)["version"] != float64(len(listed)-i) {
			t.Fatalf("the versions are not consecutive: %v", listed)
		}
	}
	for len(c.versions) < len(listed) {
		next, by := c.next(t, attempts)
		if by == nil {
			t.Fatalf("no successful edit made version %d", len(c.versions)+1)
		}
		for _, r := range by.replies {
			// A copy gets a 404 if another edit removed what the edit made. A refusal
			// is not stored under the key, so a copy may also have been refused by an
			// earlier version.
			if r.Status >= 300 && r.Status != 404 && !c.refused(by, r.Status) {
				t.Fatalf("%s succeeded, but a copy was refused with %d %s", by, r.Status, r.Body)
			}
		}
		if by.row != 4 && next.dangling() > c.newest().dangling() {
			t.Fatalf("%s leaves a dangling reference", by)
		}
		c.versions, c.status = append(c.versions, next), append(c.status, "draft")
		n := len(c.versions)
		r := c.account.user.Get(c.path + "/versions/" + strconv.Itoa(n))
		if was, ok := seen[n]; ok && was != string(r.Body) {
			t.Fatalf("version %d changed from %s to %s", n, was, r.Body)
		}
		c.checkBody(t, fmt.Sprintf("version %d by %s", n, by), r, next.version(n))
		c.checkReplies(t, by, next)
	}
	if _, by := c.next(t, attempts); by != nil {
		t.Fatalf("%s is lost: it made version %d, but the last version is %d", by, by.made, len(listed))
	}
	for _, a := range attempts {
		if a.made > len(listed)+1 {
			t.Fatalf("%s made version %d, but the last version is %d", a, a.made, len(listed))
		}
	}
	c.compare(t)
}

// checkReplies checks that the reply to an edit shows the version that the edit made,
// which is the newest version in the model. The reply to a copy may show a later
// version.
func (c *configuration) checkReplies(t *rapid.T, by *attempt, made *versionModel) {
	n := len(c.versions)
	want := by.apply(c.versions[n-2].clone())
	for _, r := range by.replies {
		switch what := fmt.Sprintf("the reply to %s, which made version %d", by, n); {
		case r.Status >= 300:
		case versionOf(r) == n:
			c.checkContent(t, what, by.edit, want, r, made, n)
		case len(by.replies) == 1:
			t.Fatalf("%s shows version %d", what, versionOf(r))
		}
	}
}

// refused reports whether one of the model's versions refuses the edit with the status.
func (c *configuration) refused(a *attempt, status int) bool {
	return slices.ContainsFunc(c.versions, func(s *versionModel) bool { return a.apply(s.clone()).status == status })
}

// next finds the edit that made the version after the model's newest one, and returns
// that version and the edit. An edit that changes nothing is allowed only if its
// If-Match names the newest version.
func (c *configuration) next(t *rapid.T, attempts []*attempt) (next *versionModel, by *attempt) {
	for _, a := range attempts {
		if a.made != len(c.versions)+1 {
			continue
		}
		s := c.newest().clone()
		if want := a.apply(s); want.status != a.status() {
			t.Fatalf("%s at version %d: %d, want %d", a, len(c.versions), a.status(), want.status)
		}
		switch idle := s.equals(c.newest()); {
		case idle && a.match == 0:
			t.Fatalf("%s changes nothing, but its reply has version %d", a, a.made)
		case idle:
		case by != nil:
			t.Fatalf("both %s and %s made version %d", by, a, a.made)
		default:
			next, by = s, a
		}
	}
	return next, by
}

// status returns the status of a successful reply, or 0.
func (a *attempt) status() int {
	for _, r := range a.replies {
		if r.Status < 300 {
			return r.Status
		}
	}
	return 0
}

// check checks the replies without the model.
func (a *attempt) check(t *rapid.T) {
	for _, r := range a.replies {
		switch {
		case r.Status >= 500:
			t.Fatalf("%s: got %d %s", a, r.Status, r.Body)
		case len(a.replies) == 1 && a.made > 0 && versionOf(r) < a.made-1:
			t.Fatalf("%s made version %d, but the tag is %d", a, a.made, versionOf(r))
		}
	}
}

// end deletes the configuration with three concurrent requests with the same key.
func (c *configuration) end(t *rapid.T) {
	replies := make([]servicetest.Reply, 3)
	key := servicetest.Header{Name: "Idempotency-Key", Value: events.NewID("key")}
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() { replies[i] = c.send(edit{method: "DELETE"}, c.tag(), key) })
	}
	testwait.Group(t, &all, "the three deletions")
	for _, r := range replies {
		if r.Status != 204 {
			t.Fatalf("one of three deletions: %d, want 204: %s", r.Status, r.Body)
		}
	}
	if r := c.account.user.Get(c.path + "/versions/1"); r.Status != 404 {
		t.Fatalf("a version of the deleted configuration: %d, want 404", r.Status)
	}
}

// Concurrent edits have the same result as edits one after another: no successful edit
// is lost, applied twice, or answered with another edit's version.
func TestConfigurationEditsAtTheSameTime(t *testing.T) {
	t.Parallel()
	l := newEditAccount(t)
	rapid.Check(t, func(t *rapid.T) {
		c := l.create(t)
		scripts := make([][]*attempt, rapid.IntRange(2, 4).Draw(t, "editors"))
		for i := range scripts {
			scripts[i] = script(t, i, l.start)
		}
		var editors, reader sync.WaitGroup
		done := make(chan struct{})
		var seen map[int]string
		var wrong string
		reader.Go(func() { seen, wrong = c.watch(done) })
		for _, s := range scripts {
			editors.Go(func() { c.run(t, s) })
		}
		testwait.Group(t, &editors, "the editors")
		close(done)
		testwait.Group(t, &reader, "the reader")
		if wrong != "" {
			t.Fatal(wrong)
		}
		attempts := slices.Concat(scripts...)
		for _, a := range attempts {
			a.check(t)
		}
		c.replay(t, attempts, seen)
		c.end(t)
	})
}
