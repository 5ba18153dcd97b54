package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The reasons why an operation must have happened before another.
const (
	writeWrite = "wrote the version before"     // ww
	writeRead  = "wrote what was read"          // wr
	readWrite  = "read the version before"      // rw
	realTime   = "was answered before the call" // rt
)

// CheckAcross checks all streams together. A cycle is a violation: its operations cannot
// all have happened at one instant each.
func CheckAcross(order *Order, all []Operation) Verdict {
	events, _ := order.resolveAll(all) // CheckStreams reports the errors
	events = slices.DeleteFunc(events, func(e *event) bool { return e.wrote == 0 && len(e.read) == 0 })
	v := Verdict{Operations: len(events), Streams: len(order.versions)}
	g := newGraph(len(events))
	g.addVersions(events)
	g.addTime(events)
	for _, component := range g.components() {
		v.Cycles++
		v.Violations = append(v.Violations, describe(events, g.cycle(component)))
	}
	return v
}

// addVersions adds what follows from the versions that operations wrote and read.
func (g *graph) addVersions(events []*event) {
	writers := map[ref]int{}
	for i, e := range events {
		if e.wrote != 0 {
			writers[ref{e.Stream, e.wrote}] = i
		}
	}
	link := func(from ref, to int, reason string) {
		if w, ok := writers[from]; ok {
			g.add(w, to, reason)
		}
	}
	for i, e := range events {
		if e.wrote > 1 {
			link(ref{e.Stream, e.wrote - 1}, i, writeWrite)
		}
		for _, r := range e.read {
			link(r, i, writeRead)
			if w, ok := writers[ref{r.stream, r.version + 1}]; ok {
				g.add(i, w, readWrite)
			}
		}
	}
}

// addTime adds what follows from the clock: an operation that was answered before another
// was called happened before it. Only the latest of the answered ones get an edge, since
// the others follow from those.
func (g *graph) addTime(events []*event) {
	type moment struct {
		at     int64
		answer bool
		event  int
	}
	var moments []moment
	for i, e := range events {
		moments = append(moments, moment{int64(e.Call), false, i})
		if e.Return != Forever {
			moments = append(moments, moment{int64(e.Return), true, i})
		}
	}
	slices.SortFunc(moments, func(a, b moment) int { // calls first: operations that touch overlap
		return cmp.Or(cmp.Compare(a.at, b.at), compareBool(a.answer, b.answer))
	})
	latest := map[int]bool{} // answered, and no later operation that was answered has an edge from it
	before := make([][]int, len(events))
	for _, m := range moments {
		if !m.answer {
			for i := range latest {
				before[m.event] = append(before[m.event], i)
				g.add(i, m.event, realTime)
			}
			continue
		}
		for _, i := range before[m.event] {
			delete(latest, i)
		}
		latest[m.event] = true
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func describe(events []*event, path []hop) string {
	var b strings.Builder
	fmt.Fprintf(&b, "a cycle of %d operations:", len(path))
	for _, h := range path {
		e := events[h.from]
		fmt.Fprintf(&b, "\n  client %d, %s", e.Client, e.Kind)
		if e.Stream != "" {
			fmt.Fprintf(&b, " %s", e.Stream)
		}
		if e.Name != "" {
			fmt.Fprintf(&b, " %q", e.Name)
		}
		if e.wrote != 0 {
			fmt.Fprintf(&b, " (version %d)", e.wrote)
		}
		fmt.Fprintf(&b, ", from %v to %v by %s, %s of the next", e.Call, e.Return, e.Via, h.reason)
	}
	return b.String()
}
