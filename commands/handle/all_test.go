package handle_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
)

// Priors implements handle.Priors.
func (m *memory) Priors(_ context.Context, stream string, ids []string) (map[string]events.Prior, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]events.Prior{}
	for _, id := range ids {
		if s := m.streams[stream]; s != nil {
			if prior, ran := s.prior[id]; ran {
				found[id] = prior
			}
		}
	}
	return found, nil
}

// renames renames the workspace to-from times, each with its own command id.
func (p *process) renames(from, to int) ([]handle.Result, error) {
	var all []handle.Sent[commands.Workspace]
	for i := from; i < to; i++ {
		all = append(all, handle.Sent[commands.Workspace]{
			From:    handle.Origin{CommandID: fmt.Sprint("rename-", i)},
			Command: commands.UpdateWorkspace{ID: p.id, Name: fmt.Sprint("name ", i)},
		})
	}
	return handle.All(p.t.Context(), p.handler, handle.Target{Stream: p.id, PartitionKey: p.id}, all)
}

// TestAllRunsEachCommandOnce: each command of All leaves exactly one fact,
// whatever other writers do.
func TestAllRunsEachCommandOnce(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(*testing.T, *process){
		"alone": func(*testing.T, *process) {},
		"another writer takes the sequence of one": func(t *testing.T, p *process) {
			p.log.beforeAppend = sync.OnceFunc(func() { p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: "foreign"}) })
		},
		"another writer comes first five times": func(t *testing.T, p *process) {
			times := 0
			p.log.beforeAppend = func() {
				if times++; times%40 == 1 && times < 200 {
					p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: fmt.Sprint("foreign ", times)})
				}
			}
		},
		"half of them have run": func(t *testing.T, p *process) {
			if _, err := p.another().renames(20, 40); err != nil {
				t.Error(err)
			}
		},
		"one of them is running": func(_ *testing.T, p *process) {
			go p.run(handle.Origin{CommandID: "rename-7"}, commands.UpdateWorkspace{ID: p.id, Name: "name 7"}) //nolint:errcheck // either run may be first
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProcess(t)
				disturb(t, p)
				for _, process := range []*process{p, p.another()} {
					results, err := process.renames(0, 40)
					if err != nil {
						t.Fatal(err)
					}
					for i, r := range results {
						if r.Repeated == (r.Event != nil) {
							t.Errorf("command %d: %+v, want either a fact or a repetition", i, r)
						}
						if process != p && !r.Repeated {
							t.Errorf("command %d ran again", i)
						}
					}
				}
				for i := range 40 {
					if n := p.log.factsOf(fmt.Sprint("rename-", i)); n != 1 {
						t.Errorf("command %d left %d facts, want 1", i, n)
					}
				}
			})
		})
	}
}

// factsOf returns how many facts a command left in the log.
func (m *memory) factsOf(commandID string) (facts int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.records {
		frame, _, err := events.ReadFrame(&r.message)
		if err == nil && frame.CommandID == commandID && r.verdict == events.Accepted {
			facts++
		}
	}
	return facts
}

// TestEachHasItsOwnError: a command that refuses does not fail its neighbours, and
// an outage fails all that have not run.
func TestEachHasItsOwnError(t *testing.T) {
	t.Parallel()
	send := func(p *process) (errs []error) {
		match := commands.Match{Given: true, Tags: []string{"9"}}
		_, errs = handle.Each(p.t.Context(), p.handler, handle.Target{Stream: p.id, PartitionKey: p.id}, []handle.Sent[commands.Workspace]{
			{From: handle.Origin{CommandID: "bad"}, Command: commands.UpdateWorkspace{ID: p.id, Name: "bad", Match: match}},
			{From: handle.Origin{CommandID: "good"}, Command: commands.UpdateWorkspace{ID: p.id, Name: "good"}},
			{From: handle.Origin{CommandID: "bad too"}, Command: commands.UpdateWorkspace{ID: p.id, Name: "bad", Match: match}},
			{From: handle.Origin{CommandID: "better"}, Command: commands.UpdateWorkspace{ID: p.id, Name: "better"}},
			{From: handle.Origin{CommandID: "nothing to do"}, Command: commands.UpdateWorkspace{ID: p.id, Name: "better"}},
		})
		return errs
	}
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		observed := p.observed()
		for i, err := range send(p) {
			if bad := i == 0 || i == 2; bad != fault.Is(err, fault.PreconditionFailed) || !bad && err != nil {
				t.Errorf("command %d: %v", i, err)
			}
		}
		if w := p.log.workspace(p.id); w.Name != "better" || p.log.factsOf("good") != 1 {
			t.Errorf("the name is %q", w.Name)
		}
		if len(*observed) != 5 {
			t.Errorf("%d commands are observed, want 5", len(*observed))
		}
	})
	for _, alone := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newProcess(t)
			t.Cleanup(p.log.shut())
			if alone { // without Priors no command runs with another one
				p.handler.Log = struct{ handle.Log }{p.log}
			}
			began := p.handler.Now()
			errs := send(p)
			for i, err := range errs[1:] {
				if !fault.Is(err, fault.Unavailable) {
					t.Errorf("command %d without a verdict: %v", i+1, err)
				}
			}
			if took := p.handler.Now().Sub(began); took != 10*time.Second {
				t.Errorf("they waited %s for one outage", took)
			}
		})
	}
}

// TestEachRunsInItsOwnContext: Begin, Observe and the Log get the values of the
// command's own context.
func TestEachRunsInItsOwnContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		p := newProcess(t)
		var began, ended []any
		p.handler.Begin = func(ctx context.Context, _, _ string) context.Context {
			began = append(began, ctx.Value(key{}))
			return ctx
		}
		p.handler.Observe = func(ctx context.Context, _ handle.Observation) { ended = append(ended, ctx.Value(key{})) }
		_, errs := handle.Each(t.Context(), p.handler, handle.Target{Stream: p.id, PartitionKey: p.id}, []handle.Sent[commands.Workspace]{
			{Command: commands.UpdateWorkspace{ID: p.id, Name: "1"}, From: handle.Origin{CommandID: "1"}, Values: context.WithValue(t.Context(), key{}, 1)},
			{Command: commands.UpdateWorkspace{ID: p.id, Name: "2"}, From: handle.Origin{CommandID: "2"}, Values: context.WithValue(t.Context(), key{}, 2)},
		})
		if errs[0] != nil || errs[1] != nil || fmt.Sprint(began, ended) != "[1 2] [1 2]" {
			t.Errorf("errors %v, begun %v, observed %v", errs, began, ended)
		}
	})
}

func TestAllReturnsARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		match := commands.Match{Given: true, Tags: []string{"9"}}
		_, err := handle.All(t.Context(), p.handler, handle.Target{Stream: p.id, PartitionKey: p.id}, []handle.Sent[commands.Workspace]{
			{From: handle.Origin{CommandID: "good"}, Command: commands.UpdateWorkspace{ID: p.id, Name: "good"}},
			{From: handle.Origin{CommandID: "bad"}, Command: commands.UpdateWorkspace{ID: p.id, Name: "bad", Match: match}},
		})
		if !fault.Is(err, fault.PreconditionFailed) {
			t.Errorf("error %v, want the refusal of the second command", err)
		}
		if w := p.log.workspace(p.id); w.Name != "good" {
			t.Errorf("the name is %q, want good", w.Name)
		}
	})
}
