// Package history judges what clients of netsim saw, against the facts of the log.
//
// A stream is a register: its versions are the facts that set its name, in the order
// of the log, perhaps followed by its deletion. Clients write names that nobody else
// writes, so what a client read names the version that it read, and a write whose
// answer was lost is found in the log, or had no effect.
//
//   - CheckStreams asks, for each stream alone, whether every operation can have
//     happened at one instant between its call and its answer (porcupine).
//   - CheckAcross asks the same for all streams together. It draws the graph of what must
//     have happened before what, and looks for a cycle, as Elle does for histories
//     whose order of versions is known.
package history

import (
	"fmt"
	"math"
	"time"
)

// Kind is what an operation does.
type Kind string

// The kinds of operations.
const (
	Create Kind = "create"
	Read   Kind = "read"
	Write  Kind = "write"
	Delete Kind = "delete"
	List   Kind = "list" // reads several streams at one instant
)

// Outcome is what the client was told.
type Outcome string

// The outcomes of an operation.
const (
	Done    Outcome = "ok"
	Refused Outcome = "refused" // the precondition failed; there was no effect
	Gone    Outcome = "gone"    // the stream is deleted; there was no effect
	Unknown Outcome = "unknown" // no answer, or one that leaves it open
)

// Forever is the time of an answer that never came.
const Forever = time.Duration(math.MaxInt64)

// Operation is one operation of a client. Times are since the start of the campaign.
type Operation struct {
	Client  int           `json:"client"`
	Kind    Kind          `json:"kind"`
	Outcome Outcome       `json:"outcome"`
	Call    time.Duration `json:"call"`
	Return  time.Duration `json:"return"`
	Stream  string        `json:"stream,omitempty"`
	Name    string        `json:"name,omitempty"`  // that was written, or read
	Match   string        `json:"match,omitempty"` // the name that the client required the stream to have
	Retried bool          `json:"retried,omitempty"`
	Via     string        `json:"via,omitempty"`  // the process that answered
	Seen    []Sight       `json:"seen,omitempty"` // by a list
}

// Sight is a stream and its name in a list.
type Sight struct {
	Stream string `json:"stream"`
	Name   string `json:"name"`
}

// Stream is what the log has of a stream: the names that it had, and whether it is
// deleted.
type Stream struct {
	Names   []string
	Deleted bool
}

// Order is the order of versions of all streams. Version 1 of a stream has its first
// name; the version after the last name is its deletion.
type Order struct {
	versions map[string]map[string]int // stream, name
	deleted  map[string]int            // the version of the deletion; none if absent
}

// NewOrder returns the order of what the log has. A name that was set twice is an
// error: one acknowledged write was recorded as two facts.
func NewOrder(streams map[string]Stream) (*Order, []error) {
	o := &Order{map[string]map[string]int{}, map[string]int{}}
	var errs []error
	for id, s := range streams {
		o.versions[id] = map[string]int{}
		for i, name := range s.Names {
			if before, twice := o.versions[id][name]; twice {
				errs = append(errs, fmt.Errorf("%s: the name %q was set by version %d and again by version %d", id, name, before, i+1))
			}
			o.versions[id][name] = i + 1
		}
		if s.Deleted {
			o.deleted[id] = len(s.Names) + 1
		}
	}
	return o, errs
}

// event is an operation in terms of versions.
type event struct {
	Operation

	wrote int   // the version that it made; 0 for none
	match int   // the version that it required; 0 for none
	read  []ref // what it read
}

// ref is a version of a stream.
type ref struct {
	stream  string
	version int
}

// resolve finds the versions of an operation. It returns nil for one that had no effect
// and saw nothing. An operation that contradicts the log is an error.
func (o *Order) resolve(op Operation) (*event, error) {
	e := &event{Operation: op}
	version := func(stream, name string) (int, error) {
		v := o.versions[stream][name]
		if v == 0 {
			return 0, fmt.Errorf("%s at %v: %s was seen with the name %q, which the log does not have", op.Kind, op.Call, stream, name)
		}
		return v, nil
	}
	var err error
	switch op.Kind {
	case Read:
		if op.Outcome != Done {
			return e.unless(op.Outcome == Unknown), nil
		}
		if e.read, err = []ref{{op.Stream, 0}}, nil; err == nil {
			e.read[0].version, err = version(op.Stream, op.Name)
		}
		return e, err
	case List:
		for _, s := range op.Seen {
			v, err := version(s.Stream, s.Name)
			if err != nil {
				return nil, err
			}
			e.read = append(e.read, ref{s.Stream, v})
		}
		return e.unless(op.Outcome != Done || len(e.read) == 0), nil
	case Delete:
		e.wrote = o.deleted[op.Stream]
	default:
		e.wrote = o.versions[op.Stream][op.Name]
	}
	if op.Match != "" {
		if e.match, err = version(op.Stream, op.Match); err != nil {
			return nil, err
		}
	}
	return o.judgeWrite(e)
}

// judgeWrite compares the outcome of a write with the log.
func (o *Order) judgeWrite(e *event) (*event, error) {
	switch {
	case e.Outcome == Done && e.wrote == 0:
		return nil, fmt.Errorf("%s of %s to %q was acknowledged at %v by %s, but the log does not have it", e.Kind, e.Stream, e.Name, e.Return, e.Via)
	case e.Outcome == Done:
		return e, nil
	case e.wrote == 0:
		return e.unless(e.Outcome == Unknown), nil
	case e.Kind == Delete:
		if e.Outcome == Unknown || e.Retried { // one of its attempts may have deleted the stream
			e.Outcome, e.Return = Done, Forever
			return e, nil
		}
		e.wrote = 0 // another client has deleted it
		return e, nil
	case e.Outcome != Unknown && !e.Retried:
		return nil, fmt.Errorf("%s of %s to %q was answered with %s at %v by %s, but the log has it", e.Kind, e.Stream, e.Name, e.Outcome, e.Return, e.Via)
	}
	// An earlier attempt of a repeated request is in the log; nobody knows since when.
	e.Outcome, e.Return = Done, Forever
	return e, nil
}

func (e *event) unless(nothing bool) *event {
	if nothing {
		return nil
	}
	return e
}

// resolveAll resolves all operations.
func (o *Order) resolveAll(all []Operation) (events []*event, errs []error) {
	for _, op := range all {
		e, err := o.resolve(op)
		if err != nil {
			errs = append(errs, err)
		} else if e != nil {
			events = append(events, e)
		}
	}
	return events, errs
}
