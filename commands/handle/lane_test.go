package handle_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
)

func TestCommandsOnOneStreamArePipelined(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		open := p.log.shut()
		const count = 50
		var all sync.WaitGroup
		sequences := make([]int64, count)
		for i := range count {
			all.Go(func() {
				result, err := p.rename(fmt.Sprint("name ", i))
				if err != nil {
					t.Error(err)
					return
				}
				sequences[i] = result.Event.Sequence
			})
		}
		synctest.Wait()
		if got := len(p.log.records); got != 1+count {
			t.Errorf("%d records are appended before the first verdict, want %d", got, 1+count)
		}
		open()
		all.Wait()
		if got := p.log.facts(); got != 1+count {
			t.Errorf("%d of %d records are facts: %v", got, 1+count, p.log.verdicts())
		}
		slices.Sort(sequences)
		for i, sequence := range sequences {
			if sequence != int64(i)+2 {
				t.Fatalf("the answers name the sequences %v, want 2, 3, 4 …", sequences)
			}
		}
	})
}

// A command that decided on top of a rejected record decides again, whether it
// appended, refused or had nothing to do.
func TestADecisionOnARejectedRecordIsMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: "old"})
		open := p.log.shut()
		p.log.beforeAppend = sync.OnceFunc(func() {
			p.log.foreign(t, p.id, events.WorkspaceLegacyProjectSet{LegacyProjectID: "two"})
		})
		rejected := begin(func() (handle.Result, error) { return p.setProject("one") })
		refused := begin(func() (handle.Result, error) { return p.setProject("two") })
		nothing := begin(func() (handle.Result, error) { return p.setProject("one") })
		tail := begin(func() (handle.Result, error) { return p.rename("tail") })
		select {
		case a := <-refused:
			t.Errorf("the refusal is answered before the record below it is judged: %+v", a)
		case a := <-nothing:
			t.Errorf("nothing to do is answered before the record below it is judged: %+v", a)
		default:
		}
		open()
		if a := <-rejected; !fault.Is(a.err, fault.Conflict) {
			t.Errorf("the rejected record: %+v, want a conflict with the foreign one", a)
		}
		if a := <-refused; a.err != nil || a.Event != nil {
			t.Errorf("the refused one: %+v, want nothing to do", a)
		}
		if a := <-nothing; !fault.Is(a.err, fault.Conflict) {
			t.Errorf("the one with nothing to do: %+v, want a conflict", a)
		}
		if a := <-tail; a.err != nil || a.Event == nil || a.Event.Sequence != 4 {
			t.Errorf("the tail: %+v, want the fact 4", a)
		}
		want := []events.Verdict{
			events.Accepted, events.Accepted, // the first two records
			events.Accepted, events.Stale, events.Broken, // the foreign record, the rejected one and its tail
			events.Accepted, // the tail, decided again
		}
		if diff := cmp.Diff(want, p.log.verdicts()); diff != "" {
			t.Errorf("verdicts (-want +got):\n%s", diff)
		}
	})
}

// A lane that stays in use must not answer from the state that it loaded first.
func TestAnAnswerIsNeverOlderThanItsCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		when func(p *process) (handle.Result, error)
		then func(handle.Result, error) bool
	}{{
		name: "a change that another process undid is made again",
		when: func(p *process) (handle.Result, error) { return p.rename("mine") },
		then: func(r handle.Result, err error) bool { return err == nil && r.Event != nil && r.Event.Sequence == 4 },
	}, {
		name: "If-Match accepts a version of another process",
		when: func(p *process) (handle.Result, error) {
			match := commands.Match{Given: true, Tags: []string{"3"}}
			return p.run(handle.Origin{}, commands.UpdateWorkspace{ID: p.id, Name: "next", Match: match})
		},
		then: func(r handle.Result, err error) bool { return err == nil && r.Event != nil && r.Event.Sequence == 4 },
	}, {
		name: "an undone change with a command id is made again",
		when: func(p *process) (handle.Result, error) {
			return p.run(handle.Origin{CommandID: "again"}, commands.UpdateWorkspace{ID: p.id, Name: "mine"})
		},
		then: func(r handle.Result, err error) bool { return err == nil && r.Event != nil && r.Event.Sequence == 4 },
	}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProcess(t)
				hold := make(chan struct{})
				p.log.loading = func(commandID string) {
					if commandID == "held" {
						<-hold
					}
				}
				open := p.log.shut()
				first := begin(func() (handle.Result, error) { return p.rename("mine") })
				// This command keeps the lane in use, and with it the lane's tip.
				held := begin(func() (handle.Result, error) {
					return p.run(handle.Origin{CommandID: "held"}, commands.UpdateWorkspace{ID: p.id, Name: "held"})
				})
				open()
				if a := <-first; a.err != nil {
					t.Fatal(a.err)
				}
				if _, err := p.another().rename("theirs"); err != nil {
					t.Fatal(err)
				}
				if r, err := c.when(p); !c.then(r, err) {
					t.Errorf("answer %+v, %v, want the fact 4", r, err)
				}
				close(hold)
				if a := <-held; a.err != nil {
					t.Error(a.err)
				}
			})
		})
	}
}

// While the projector stalls, outcomes are unknown. Later commands still decide
// on top of the unjudged records.
func TestWhatIsUnknownIsNotForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		open := p.log.shut()
		from := handle.Origin{CommandID: "key"}
		cmd := commands.UpdateWorkspace{ID: p.id, Name: "changed"}
		if _, err := p.run(from, cmd); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("answer %v, want unavailable", err)
		}
		again := begin(func() (handle.Result, error) { return p.run(from, cmd) })
		undo := begin(func() (handle.Result, error) { return p.rename("new") })
		open()
		if a := <-again; a.err != nil || !a.Repeated {
			t.Errorf("the same command: %+v, want it repeated", a)
		}
		if a := <-undo; a.err != nil || a.Event == nil || a.Event.Sequence != 3 {
			t.Errorf("the command that undoes it: %+v, want the fact 3", a)
		}
	})
}
