package linear_test

import (
	"errors"
	"testing"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/internal/linear"
)

// done returns an operation that was called and answered at these seconds.
func done(called, answered time.Duration, in linear.Operation, out linear.Reply) linear.Done {
	return linear.Done{Operation: in, Reply: out, Called: called * time.Second, Answered: answered * time.Second}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	read, a, b := linear.Operation{Read: true}, linear.Operation{Name: "a"}, linear.Operation{Name: "b"}
	saw := func(version int64, name string) linear.Reply {
		return linear.Reply{Read: linear.Register{Version: version, Name: name}}
	}
	for _, test := range []struct {
		name     string
		history  linear.History
		possible bool
	}{
		{"a read after a write", linear.History{done(0, 1, a, linear.Reply{Wrote: 2}), done(2, 3, read, saw(2, "a"))}, true},
		{"a stale read", linear.History{done(0, 1, a, linear.Reply{Wrote: 2}), done(2, 3, read, saw(1, "new"))}, false},
		{"a read during a write", linear.History{done(0, 3, a, linear.Reply{Wrote: 2}), done(1, 2, read, saw(1, "new"))}, true},
		{"a lost write", linear.History{done(0, 1, a, linear.Reply{Wrote: 2}), done(2, 3, b, linear.Reply{Wrote: 2})}, false},
		{"a refusal although the condition holds", linear.History{done(0, 1, linear.Operation{Name: "a", Match: 1}, linear.Reply{Refused: true})}, false},
		{"a write although the condition does not hold", linear.History{done(0, 1, linear.Operation{Name: "a", Match: 7}, linear.Reply{Wrote: 2})}, false},
		{"a write in doubt that took place late", linear.History{done(0, 1, a, linear.Reply{InDoubt: true}), done(2, 3, read, saw(1, "new")), done(4, 5, read, saw(2, "a"))}, true},
		{"a write in doubt that never took place", linear.History{done(0, 1, a, linear.Reply{InDoubt: true}), done(2, 3, read, saw(1, "new"))}, true},
		{"a write in doubt that took place twice", linear.History{done(0, 1, a, linear.Reply{InDoubt: true}), done(2, 3, read, saw(3, "a"))}, false},
		{"a repeated write", linear.History{done(0, 1, a, linear.Reply{Repeated: true}), done(2, 3, read, saw(2, "a"))}, true},
		{"a repeated write without a fact", linear.History{done(0, 1, a, linear.Reply{Repeated: true}), done(2, 3, read, saw(1, "new"))}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if err := test.history.Check(0); (err == nil) != test.possible {
				t.Errorf("Check returned %v", err)
			}
		})
	}
}

func TestWriteRepeatsWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	lost, fact := fault.Unknown(errors.New("connection reset")), &events.Event{Frame: events.Frame{Sequence: 5}}
	for _, test := range []struct {
		name    string
		results []handle.Result
		errs    []error
		want    linear.Reply
		ok      bool
	}{
		{"a fact", []handle.Result{{Event: fact}}, []error{nil}, linear.Reply{Wrote: 5}, true},
		{"a fact of the second attempt", []handle.Result{{}, {Event: fact}}, []error{lost, nil}, linear.Reply{Wrote: 5}, true},
		{"a fact of the first attempt", []handle.Result{{}, {Repeated: true}}, []error{lost, nil}, linear.Reply{Repeated: true}, true},
		{"nothing to do", []handle.Result{{}}, []error{nil}, linear.Reply{}, true},
		{"nothing to do at the second attempt", []handle.Result{{}, {}}, []error{lost, nil}, linear.Reply{InDoubt: true}, true},
		{"refused", []handle.Result{{}}, []error{fault.New(fault.PreconditionFailed, "no")}, linear.Reply{Refused: true}, true},
		{"refused at the second attempt", []handle.Result{{}, {}}, []error{lost, fault.New(fault.PreconditionFailed, "no")}, linear.Reply{InDoubt: true}, true},
		{"overtaken", []handle.Result{{}}, []error{fault.New(fault.Conflict, "no")}, linear.Reply{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			attempt := -1
			got, ok, err := linear.Operation{Name: "a"}.Write("ws_1", func(commands.UpdateWorkspace) (handle.Result, error) {
				attempt++
				return test.results[attempt], test.errs[attempt]
			})
			if got != test.want || ok != test.ok || err != nil || attempt != len(test.results)-1 {
				t.Errorf("got %+v, %v, %v after %d attempts", got, ok, err, attempt+1)
			}
		})
	}
	broken := errors.New("broken")
	if _, _, err := (linear.Operation{}).Write("ws_1", func(commands.UpdateWorkspace) (handle.Result, error) { return handle.Result{}, broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v, want %v", err, broken)
	}
}
