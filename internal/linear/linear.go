// Package linear judges whether what several clients saw of a workspace, while they
// changed it together, can have happened with one operation after the other. The tests of
// commands/handle, over a log in memory that answers late, and of infra/writelog, over
// real servers, share it.
//
// It knows nothing but the replies, because those tests examine the log: each reply names
// the version that the client was told, and porcupine searches for an order in which every
// operation happens at one instant between its call and its answer. The fault campaign's
// check (prove/history) is another one for a reason: its clients write each name once, so
// the log tells which version every operation read or wrote and whether a write whose
// answer was lost took place. With that it judges histories of a campaign's length, with
// creations, deletions and lists, and all streams together.
package linear

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/fault"
)

// Initial is the name of a workspace at the start of its history; its version is 1.
const Initial = "new"

// Register is the workspace as its clients see it: a name that can be read, set, and set
// on the condition that the workspace has a version.
type Register struct {
	Version int64
	Name    string
}

// Operation is what a client does.
type Operation struct {
	Read  bool
	Name  string // to set
	Match int64  // the version that the workspace must have; 0 is no condition
}

// Reply is the outcome of an operation. All fields of a write's are zero when there was
// nothing to do. A write in doubt was repeated after an unknown outcome, in another
// process, and then had no effect: its first record may still be judged later, and become
// a fact.
type Reply struct {
	Read     Register
	Wrote    int64 // the sequence of the fact
	Repeated bool  // an earlier attempt made the fact
	Refused  bool  // the condition was false
	InDoubt  bool
}

// Write sets the name of a workspace. It calls run, each time under the same command id,
// until the outcome is known or in doubt. After an error with the code Unavailable the
// outcome is not known. ok is false for a write that certainly changed nothing, because
// other writers overtook all its attempts.
func (o Operation) Write(workspace string, run func(commands.UpdateWorkspace) (handle.Result, error)) (reply Reply, ok bool, err error) {
	cmd := commands.UpdateWorkspace{
		ID: workspace, Name: o.Name, Match: commands.Match{Given: o.Match != 0, Tags: []string{strconv.FormatInt(o.Match, 10)}},
	}
	for attempt := 0; ; attempt++ {
		result, err := run(cmd)
		refused, crowded := fault.Is(err, fault.PreconditionFailed), fault.Is(err, fault.Conflict)
		switch {
		case fault.Is(err, fault.Unavailable):
			continue
		case err != nil && !refused && !crowded:
			return Reply{}, false, err
		case result.Repeated:
			return Reply{Repeated: true}, true, nil
		case result.Event != nil:
			return Reply{Wrote: result.Event.Sequence}, true, nil
		case attempt > 0:
			return Reply{InDoubt: true}, true, nil
		}
		return Reply{Refused: refused}, !crowded, nil
	}
}

// Done is an operation that a client has done. Its times are since the start.
type Done struct {
	Operation
	Reply

	Client           int
	Called, Answered time.Duration
}

// Kind names what became of the operation.
func (d Done) Kind() string {
	switch {
	case d.Operation.Read:
		return "read"
	case d.InDoubt:
		return "in doubt"
	case d.Repeated:
		return "repeated"
	case d.Refused:
		return "refused"
	case d.Wrote == 0:
		return "nothing to do"
	}
	return "written"
}

// History is what clients did to one workspace.
type History []Done

// Check returns an error if the history cannot have happened, or if the time was not
// enough to find out; 0 is unlimited.
func (h History) Check(timeout time.Duration) error {
	operations := make([]porcupine.Operation, len(h))
	for i, d := range h {
		o := porcupine.Operation{ClientId: d.Client, Input: d.Operation, Output: d.Reply, Call: int64(d.Called), Return: int64(d.Answered)}
		if d.InDoubt {
			o.Return = math.MaxInt64 // it happens at any time after its call, or never
		}
		operations[i] = o
	}
	if result := porcupine.CheckOperationsTimeout(model(), operations, timeout); result != porcupine.Ok {
		return fmt.Errorf("a history of %d operations, which should be linearizable, is %s", len(h), result)
	}
	return nil
}

// model is what the workspace would do if every operation happened at one instant.
func model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{Register{1, Initial}} },
		Step: func(state, input, output any) []any {
			was, in, out := state.(Register), input.(Operation), output.(Reply)
			want, now := Reply{}, was
			switch {
			case in.Read:
				want.Read = was
			case in.Match != 0 && in.Match != was.Version:
				want.Refused = true
			case in.Name != was.Name:
				now = Register{was.Version + 1, in.Name}
				want.Wrote = now.Version
			}
			switch {
			case out.InDoubt:
				return []any{was, now}
			case out == want, out.Repeated && want.Wrote != 0:
				return []any{now}
			}
			return nil
		},
	}
	return m.ToModel()
}
