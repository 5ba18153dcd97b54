package handle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
)

// process is a process of the service on the log, which changes one workspace.
type process struct {
	t       *testing.T
	log     *memory
	handler *handle.Handler
	id      string // of the workspace
}

func newProcess(t *testing.T) *process {
	log := &memory{}
	p := &process{t: t, log: log, handler: &handle.Handler{Log: log, Now: time.Now}, id: events.NewID(events.WorkspacePrefix)}
	log.foreign(t, p.id, events.WorkspaceCreated{AccountID: "acct", Name: "new", Owner: "someone"})
	log.verdicts() // judges the record
	return p
}

// another returns another process on the same log.
func (p *process) another() *process {
	return &process{p.t, p.log, &handle.Handler{Log: p.log, Now: time.Now}, p.id}
}

func (p *process) run(from handle.Origin, cmd commands.Command[commands.Workspace]) (handle.Result, error) {
	return handle.Command(p.t.Context(), p.handler, handle.Target{Stream: p.id, PartitionKey: p.id}, from, cmd)
}

func (p *process) rename(name string) (handle.Result, error) {
	return p.run(handle.Origin{}, commands.UpdateWorkspace{ID: p.id, Name: name})
}

func (p *process) setProject(project string) (handle.Result, error) {
	return p.run(handle.Origin{}, commands.SetLegacyProject{ID: p.id, LegacyProjectID: project})
}

// answer is the result of a command that ran in the background.
type answer struct {
	handle.Result
	err error
}

// begin runs f in the background until it blocks, and returns the channel of its
// answer.
func begin(f func() (handle.Result, error)) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		result, err := f()
		done <- answer{result, err}
	}()
	synctest.Wait()
	return done
}

// TestARecordBehindAForeignOneIsDecidedAgain: a command decides again if
// another writer's record came first.
func TestARecordBehindAForeignOneIsDecidedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		p.log.beforeAppend = sync.OnceFunc(func() {
			p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: "foreign", Description: "kept"})
		})
		result, err := p.rename("ours")
		if err != nil || result.Event == nil || result.Event.Sequence != 3 {
			t.Errorf("answer %+v, %v, want the fact 3", result, err)
		}
		if w := p.log.workspace(p.id); w.Name != "ours" || w.Description != "kept" {
			t.Errorf("the workspace is %+v, want our name on top of the foreign change", w)
		}
	})
}

// TestARecordThatTheForeignOneForbidsIsRefused: a command that decides again is
// refused if the other writer's record forbids it.
func TestARecordThatTheForeignOneForbidsIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		p.log.beforeAppend = sync.OnceFunc(func() {
			p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: "foreign"})
		})
		match := commands.Match{Given: true, Tags: []string{"1"}}
		_, err := p.run(handle.Origin{}, commands.UpdateWorkspace{ID: p.id, Name: "ours", Match: match})
		if !fault.Is(err, fault.PreconditionFailed) {
			t.Errorf("answer %v, want the precondition to fail", err)
		}
		if w := p.log.workspace(p.id); w.Name != "foreign" {
			t.Errorf("the name is %q, want foreign", w.Name)
		}
	})
}

// TestAVerdictThatDoesNotComeIsUnknown: a command whose verdict does not arrive
// in time returns Unavailable. A repetition finds its record, or runs the command
// if the record never reached the log.
func TestAVerdictThatDoesNotComeIsUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		losing   func(int64) error
		repeated bool
	}{
		{name: "the record is in the log", repeated: true},
		{name: "the record never arrived", losing: func(offset int64) error {
			if offset == 1 {
				return errors.New("connection reset")
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProcess(t)
				p.log.losing = c.losing
				open := p.log.shut()
				from := handle.Origin{CommandID: "key", CommandDigest: "body"}
				cmd := commands.UpdateWorkspace{ID: p.id, Name: "once"}
				_, err := p.run(from, cmd)
				unknown, ok := errors.AsType[*fault.Fault](err)
				if !ok || unknown.Code != fault.Unavailable || unknown.RetryAfter <= 0 {
					t.Errorf("answer %v, want unavailable with a RetryAfter", err)
				}
				open()
				again, err := p.run(from, cmd)
				if err != nil || again.Repeated != c.repeated {
					t.Errorf("again: %+v, %v, want repeated %v", again, err, c.repeated)
				}
				if w := p.log.workspace(p.id); w.Name != "once" || w.Version != 2 {
					t.Errorf("the workspace is %+v, want it renamed once", w)
				}
			})
		})
	}
}

// TestTheLogsOwnFaultIsTheAnswer: a fault of the log is returned unchanged. The
// next command decides again, from the last fact.
func TestTheLogsOwnFaultIsTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		p.log.losing = func(offset int64) error {
			if offset == 1 {
				return fault.New(fault.PayloadTooLarge, "too large")
			}
			return nil
		}
		open := p.log.shut()
		tooLarge := begin(func() (handle.Result, error) { return p.rename("large") })
		next := begin(func() (handle.Result, error) { return p.rename("small") })
		open()
		if a := <-tooLarge; !fault.Is(a.err, fault.PayloadTooLarge) {
			t.Errorf("answer %+v, want the log's fault", a)
		}
		if a := <-next; a.err != nil || a.Event == nil || a.Event.Sequence != 2 {
			t.Errorf("the next command: %+v, want the fact 2", a)
		}
	})
}

// TestARepeatedCommandIsNotRunAgain: a command with a used id does not run
// again, in this or another process. With another digest it is refused.
func TestARepeatedCommandIsNotRunAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		from := handle.Origin{CommandID: "key", CommandDigest: "body"}
		cmd := commands.UpdateWorkspace{ID: p.id, Name: "once"}
		var all sync.WaitGroup
		ran := make([]bool, 8)
		for i := range ran {
			all.Go(func() {
				result, err := p.run(from, cmd)
				if err != nil {
					t.Error(err)
				}
				ran[i] = !result.Repeated && result.Event != nil
			})
		}
		all.Wait()
		if runs := len(slices.DeleteFunc(ran, func(b bool) bool { return !b })); runs != 1 {
			t.Errorf("the command ran %d times in one process, want once", runs)
		}
		if result, err := p.another().run(from, cmd); err != nil || !result.Repeated {
			t.Errorf("in another process: %+v, %v, want it repeated", result, err)
		}
		other := handle.Origin{CommandID: "key", CommandDigest: "another body"}
		if _, err := p.run(other, cmd); !fault.Is(err, fault.Unprocessable) {
			t.Errorf("with another body: %v, want it refused", err)
		}
		if got := len(p.log.records); got != 2 {
			t.Errorf("the log has %d records, want 2", got)
		}
	})
}

func TestTwoProcessesWithOneCommandRunItOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		open := p.log.shut()
		run := func(p *process) func() (handle.Result, error) {
			return func() (handle.Result, error) {
				return p.run(handle.Origin{CommandID: "key"}, commands.UpdateWorkspace{ID: p.id, Name: "once"})
			}
		}
		here, there := begin(run(p)), begin(run(p.another()))
		open()
		a, b := <-here, <-there
		if a.err != nil || b.err != nil || a.Repeated || !b.Repeated {
			t.Errorf("answers %+v and %+v, want the first run and the second repeated", a, b)
		}
		if got := p.log.facts(); got != 2 {
			t.Errorf("%d facts, want 2", got)
		}
	})
}

func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		attempts := 0
		p.log.beforeAppend = func() {
			attempts++
			p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: fmt.Sprint("foreign ", attempts)})
		}
		_, err := p.rename("ours")
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("answer %v, want a conflict", err)
		}
		if attempts < 2 || attempts > 20 {
			t.Errorf("%d attempts, want 2 to 20", attempts)
		}
	})
}

func TestAClientThatLeavesDoesNotAbandonItsCommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		open := p.log.shut()
		ctx, leave := context.WithCancel(t.Context())
		done := begin(func() (handle.Result, error) {
			return handle.Command(ctx, p.handler, handle.Target{Stream: p.id, PartitionKey: p.id},
				handle.Origin{}, commands.UpdateWorkspace{ID: p.id, Name: "kept"})
		})
		leave()
		synctest.Wait()
		open()
		if a := <-done; a.err != nil || a.Event == nil {
			t.Errorf("answer %+v, want the fact", a)
		}
	})
}

func TestAParkedStreamTakesNoCommand(t *testing.T) {
	t.Parallel()
	h := &handle.Handler{Log: parked{}, Now: time.Now}
	_, err := handle.Command(t.Context(), h, handle.Target{Stream: events.DefaultWorkspace, PartitionKey: events.DefaultWorkspace},
		handle.Origin{}, commands.DeleteWorkspace{ID: events.DefaultWorkspace})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("answer %v, want unavailable", err)
	}
}

// parked is a log in which every stream is parked.
type parked struct{ handle.Log }

func (parked) Load(context.Context, string, string) (events.Snapshot, error) {
	return events.Snapshot{Parked: true}, nil
}

func TestAFreshStreamIsNotLookedUp(t *testing.T) {
	t.Parallel()
	log := &memory{loading: func(string) { t.Error("a fresh stream was loaded") }}
	h := &handle.Handler{Log: log, Now: time.Now}
	id := events.NewID(events.WorkspacePrefix)
	to := handle.Target{Stream: id, PartitionKey: id, Fresh: true}
	result, err := handle.Command(t.Context(), h, to, handle.Origin{}, commands.CreateWorkspace{Name: "new"})
	if err != nil || result.Event == nil || result.Event.Sequence != 1 {
		t.Errorf("answer %+v, %v, want the fact 1", result, err)
	}
}

func TestACommandForAnotherKindOfStreamIsAnInternalError(t *testing.T) {
	t.Parallel()
	log := &memory{}
	h := &handle.Handler{Log: log, Now: time.Now}
	id := events.NewID(events.SimulationPrefix)
	_, err := handle.Command(t.Context(), h, handle.Target{Stream: id, PartitionKey: id},
		handle.Origin{}, commands.DeleteWorkspace{ID: id})
	if err == nil || fault.CodeOf(err) != fault.Internal {
		t.Errorf("answer %v, want an internal error", err)
	}
	if len(log.records) != 0 {
		t.Errorf("%d records were appended, want none", len(log.records))
	}
}
