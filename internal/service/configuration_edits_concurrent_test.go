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
	"netsim/internal/service/servicetest"
	"netsim/internal/testwait"
)

// attempt is an edit that an editor sends, once or several times at once under
// one key, and what became of it.
type attempt struct {
	edit
	conditional bool // on the version that the editor knows
	copies      int

	match   int // the version in If-Match, 0 for none
	made    int // the version that the edit says it made, 0 when it was refused
	replies []servicetest.Reply
}

// script draws what one editor does. Every number in it is new, so that each
// edit that succeeds makes a version.
func script(t *rapid.T, editor int, start *sheet) []*attempt {
	script := make([]*attempt, rapid.IntRange(1, 3).Draw(t, "edits"))
	for i := range script {
		number := float64(100*(editor+2) + i)
		e := pencil{t, number, []*sheet{start}}.edit()
		a := &attempt{edit: e, copies: rapid.SampledFrom([]int{1, 1, 1, 3}).Draw(t, "copies")}
		// What is attached may be so already: without If-Match nothing says which
		// version the answer of an edit is of that had nothing to do.
		a.conditional = e.row == 4 || e.row == 31 || e.row >= 35 || rapid.Bool().Draw(t, "conditional")
		script[i] = a
	}
	return script
}

// run sends what the script says.
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
		testwait.Group(t, &all, "everyone")
		for _, r := range a.replies {
			known = max(known, a.count(r))
		}
		if a.made == 0 { // perhaps because others were faster
			known = versionOf(c.lab.user.Get(c.path))
		}
	}
}

// count takes down the version that a reply is of, and returns it.
func (a *attempt) count(r servicetest.Reply) int {
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

// watch reads the configuration until done, and returns the versions that it
// has seen as they were.
func (c *configuration) watch(done <-chan struct{}) (seen map[int]string, wrong string) {
	seen = map[int]string{}
	for last := 1; ; {
		r := c.lab.user.Get(c.path)
		now := versionOf(r)
		if now < last || r.Object()["version"] != float64(now) {
			wrong = fmt.Sprintf("after version %d comes %s with the tag %d", last, r.Body, now)
		}
		last = now
		seen[now] = string(c.lab.user.Get(c.path + "/versions/" + strconv.Itoa(now)).Body)
		select {
		case <-done:
			return seen, wrong
		default:
		}
	}
}

// replay holds the versions to the edits that were answered with success: each
// version is the one before with exactly one of them, and none is left over.
func (c *configuration) replay(t *rapid.T, attempts []*attempt, seen map[int]string) {
	listed := c.lab.user.Get(c.path + "/versions").Object()["versions"].(array)
	for i, v := range listed {
		if v.(object)["version"] != float64(len(listed)-i) {
			t.Fatalf("the versions are %v", listed)
		}
	}
	for len(c.sheets) < len(listed) {
		next, by := c.next(t, attempts)
		if by == nil {
			t.Fatalf("version %d is nobody's", len(c.sheets)+1)
		}
		for _, r := range by.replies {
			// 404: what it made is gone again. A refusal is not remembered under the
			// key, so a copy may have come while the edit was still refused.
			if r.Status >= 300 && r.Status != 404 && !c.refused(by, r.Status) {
				t.Fatalf("%s was done, a repetition is answered with %d %s", by, r.Status, r.Body)
			}
		}
		if by.row != 4 && next.dangling() > c.newest().dangling() {
			t.Fatalf("%s leaves a reference that names nothing", by)
		}
		c.sheets, c.status = append(c.sheets, next), append(c.status, "draft")
		n := len(c.sheets)
		r := c.lab.user.Get(c.path + "/versions/" + strconv.Itoa(n))
		if was, ok := seen[n]; ok && was != string(r.Body) {
			t.Fatalf("version %d was %s and is %s", n, was, r.Body)
		}
		c.same(t, fmt.Sprintf("version %d by %s", n, by), r, next.version(n))
		c.own(t, by, next)
	}
	if _, by := c.next(t, attempts); by != nil {
		t.Fatalf("%s is lost: it was to make version %d of %d", by, by.made, len(listed))
	}
	for _, a := range attempts {
		if a.made > len(listed)+1 {
			t.Fatalf("%s is of version %d of %d", a, a.made, len(listed))
		}
	}
	c.compare(t)
}

// own holds the answer to an edit to the version that the edit made, the newest
// so far, whatever came of it since. A repetition may be of a later one.
func (c *configuration) own(t *rapid.T, by *attempt, made *sheet) {
	n := len(c.sheets)
	want := by.apply(c.sheets[n-2].clone())
	for _, r := range by.replies {
		switch what := fmt.Sprintf("the answer to %s, which made version %d", by, n); {
		case r.Status >= 300:
		case versionOf(r) == n:
			c.shows(t, what, by.edit, want, r, made, n)
		case len(by.replies) == 1:
			t.Fatalf("%s is of version %d", what, versionOf(r))
		}
	}
}

// refused reports whether a version so far refuses the edit with the status.
func (c *configuration) refused(a *attempt, status int) bool {
	return slices.ContainsFunc(c.sheets, func(s *sheet) bool { return a.apply(s.clone()).status == status })
}

// next is what the one edit that says so makes of the newest version. Only an
// edit on the condition of that version may have found nothing to do in it.
func (c *configuration) next(t *rapid.T, attempts []*attempt) (next *sheet, by *attempt) {
	for _, a := range attempts {
		if a.made != len(c.sheets)+1 {
			continue
		}
		s := c.newest().clone()
		if want := a.apply(s); want.status != a.status() {
			t.Fatalf("%s at version %d: %d, want %d", a, len(c.sheets), a.status(), want.status)
		}
		switch idle := s.equals(c.newest()); {
		case idle && a.match == 0:
			t.Fatalf("%s says that it made version %d", a, a.made)
		case idle:
		case by != nil:
			t.Fatalf("version %d is by both %s and %s", a.made, by, a)
		default:
			next, by = s, a
		}
	}
	return next, by
}

// status is that of the success.
func (a *attempt) status() int {
	for _, r := range a.replies {
		if r.Status < 300 {
			return r.Status
		}
	}
	return 0
}

// check holds the replies by themselves.
func (a *attempt) check(t *rapid.T) {
	for _, r := range a.replies {
		switch {
		case r.Status >= 500:
			t.Fatalf("%s: %d %s", a, r.Status, r.Body)
		case len(a.replies) == 1 && a.made > 0 && versionOf(r) < a.made-1:
			t.Fatalf("%s made version %d, the tag is %d", a, a.made, versionOf(r))
		}
	}
}

// end deletes the configuration, with three requests of one key at once.
func (c *configuration) end(t *rapid.T) {
	replies := make([]servicetest.Reply, 3)
	key := servicetest.Header{Name: "Idempotency-Key", Value: events.NewID("key")}
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() { replies[i] = c.send(edit{method: "DELETE"}, c.tag(), key) })
	}
	testwait.Group(t, &all, "everyone")
	for _, r := range replies {
		if r.Status != 204 {
			t.Fatalf("one of three deletions: %d %s", r.Status, r.Body)
		}
	}
	if r := c.lab.user.Get(c.path + "/versions/1"); r.Status != 404 {
		t.Fatalf("a version of what is deleted: %d", r.Status)
	}
}

// Edits at the same time are edits one after the other: none that was answered
// with success is lost, repeated, or seen in a version that is not its own.
func TestConfigurationEditsAtTheSameTime(t *testing.T) {
	t.Parallel()
	l := newLab(t)
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
