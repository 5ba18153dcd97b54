package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Verdict is the result of a check.
type Verdict struct {
	Violations []string // empty if the history can have happened
	Streams    int      // checked
	Undecided  []string // streams for which the time was not enough
	Operations int      // checked
	Cycles     int
}

// state is a stream at an instant.
type state struct {
	version int // 0 before it exists
	gone    bool
}

// act is an operation on a stream, as porcupine sees it.
type act struct {
	kind    Kind
	outcome Outcome
	version int // read or written
	match   int
}

// register is what a stream would do if every operation happened at one instant.
func register() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{} },
		Step: func(was, input, _ any) (bool, any) {
			s, a := was.(state), input.(act)
			return step(s, a)
		},
		Equal: func(a, b any) bool { return a == b },
		DescribeOperation: func(input, _ any) string {
			a := input.(act)
			return fmt.Sprintf("%s %d if %d: %s", a.kind, a.version, a.match, a.outcome)
		},
	}
}

func step(s state, a act) (possible bool, next state) {
	exists := s.version > 0 && !s.gone
	switch {
	case a.outcome == Gone:
		return s.gone, s
	case a.outcome == Refused:
		return exists && a.match != 0 && a.match != s.version, s
	case a.kind == Read:
		return exists && s.version == a.version, s
	case a.kind == Delete && s.gone:
		return true, s // a deletion that is repeated while it is in progress succeeds
	case a.version != s.version+1, a.match != 0 && a.match != s.version, s.gone:
		return false, s
	case a.kind == Create:
		return !exists, state{version: a.version}
	}
	return exists, state{version: a.version, gone: a.kind == Delete}
}

// CheckStreams checks each stream alone, within the time for each.
func CheckStreams(order *Order, all []Operation, timeout time.Duration) Verdict {
	events, errs := order.resolveAll(all)
	var v Verdict
	for _, err := range errs {
		v.Violations = append(v.Violations, err.Error())
	}
	histories := map[string][]porcupine.Operation{}
	add := func(e *event, stream string, a act) {
		histories[stream] = append(histories[stream], porcupine.Operation{
			ClientId: e.Client, Input: a, Call: int64(e.Call), Return: int64(e.Return),
		})
	}
	for _, e := range events {
		for _, r := range e.read {
			add(e, r.stream, act{Read, Done, r.version, 0})
		}
		if e.Kind != List && len(e.read) == 0 {
			add(e, e.Stream, act{e.Kind, e.Outcome, e.wrote, e.match})
		}
	}
	streams := make([]string, 0, len(histories))
	for id := range histories {
		streams = append(streams, id)
	}
	slices.Sort(streams)
	for _, id := range streams {
		v.Streams++
		v.Operations += len(histories[id])
		switch porcupine.CheckOperationsTimeout(register(), histories[id], timeout) {
		case porcupine.Illegal:
			v.Violations = append(v.Violations, fmt.Sprintf("%s is not linearizable: %d operations", id, len(histories[id])))
		case porcupine.Unknown:
			v.Undecided = append(v.Undecided, id)
		}
	}
	return v
}
