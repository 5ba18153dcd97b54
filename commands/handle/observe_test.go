package handle_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
)

// observed makes the process record what its handler reports.
func (p *process) observed() *[]handle.Observation {
	var mu sync.Mutex
	var all []handle.Observation
	p.handler.Observe = func(_ context.Context, o handle.Observation) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, o)
	}
	return &all
}

func TestEveryCommandIsObservedOnce(t *testing.T) {
	t.Parallel()
	const command = "UpdateWorkspace"
	key := handle.Origin{CommandID: "key"}
	stale := commands.Match{Given: true, Tags: []string{"9"}}
	for name, c := range map[string]struct {
		prepare func(*testing.T, *process)
		from    handle.Origin
		run     commands.UpdateWorkspace
		want    handle.Observation
	}{
		"accepted": {
			prepare: func(_ *testing.T, p *process) { p.log.delay = func() time.Duration { return time.Second } },
			run:     commands.UpdateWorkspace{Name: "ours"},
			want:    handle.Observation{Outcome: handle.OutcomeAccepted, At: events.Position{Offset: 1}, Attempts: 1, Took: 2 * time.Second},
		},
		"accepted after another writer": {
			prepare: func(t *testing.T, p *process) {
				p.log.beforeAppend = sync.OnceFunc(func() { p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: "foreign"}) })
			},
			run:  commands.UpdateWorkspace{Name: "ours"},
			want: handle.Observation{Outcome: handle.OutcomeAccepted, At: events.Position{Offset: 3}, Attempts: 2},
		},
		"repeated": {
			prepare: func(t *testing.T, p *process) {
				if _, err := p.another().run(key, commands.UpdateWorkspace{ID: p.id, Name: "ours"}); err != nil {
					t.Error(err)
				}
			},
			from: key, run: commands.UpdateWorkspace{Name: "ours"},
			want: handle.Observation{Outcome: handle.OutcomeRepeated, Attempts: 1},
		},
		"nothing": {
			run:  commands.UpdateWorkspace{Name: "new"},
			want: handle.Observation{Outcome: handle.OutcomeNothing, Attempts: 1},
		},
		"refused": {
			run:  commands.UpdateWorkspace{Name: "ours", Match: stale},
			want: handle.Observation{Outcome: handle.OutcomeRefused, Code: fault.PreconditionFailed, Attempts: 1},
		},
		"rejected": {
			prepare: func(t *testing.T, p *process) {
				ahead := 0
				p.log.beforeAppend = func() {
					ahead++
					p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: fmt.Sprint("foreign ", ahead)})
				}
			},
			run:  commands.UpdateWorkspace{Name: "ours"},
			want: handle.Observation{Outcome: handle.OutcomeRejected, Code: fault.Conflict, Attempts: 12},
		},
		"timed out": {
			prepare: func(t *testing.T, p *process) { t.Cleanup(p.log.shut()) },
			run:     commands.UpdateWorkspace{Name: "ours"},
			want:    handle.Observation{Outcome: handle.OutcomeTimedOut, Code: fault.Unavailable, Attempts: 1, Took: 10 * time.Second},
		},
		"failed": {
			prepare: func(_ *testing.T, p *process) { p.handler.Log = parked{} },
			run:     commands.UpdateWorkspace{Name: "ours"},
			want:    handle.Observation{Outcome: handle.OutcomeFailed, Code: fault.Unavailable, Attempts: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProcess(t)
				if c.prepare != nil {
					c.prepare(t, p)
				}
				observed := p.observed()
				c.run.ID = p.id
				p.run(c.from, c.run) //nolint:errcheck // the observation has its code
				c.want.Command = command
				if c.want.Attempts > 1 && len(*observed) > 0 {
					(*observed)[0].Took = 0 // the pauses between attempts are random
				}
				if diff := cmp.Diff([]handle.Observation{c.want}, *observed); diff != "" {
					t.Errorf("observations (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestCommandsTogetherAreObservedOnceEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		if _, err := p.another().renames(0, 3); err != nil {
			t.Fatal(err)
		}
		observed := p.observed()
		if _, err := p.renames(0, 5); err != nil {
			t.Fatal(err)
		}
		outcomes := map[handle.Outcome]int{}
		for _, o := range *observed {
			outcomes[o.Outcome]++
		}
		want := map[handle.Outcome]int{handle.OutcomeRepeated: 3, handle.OutcomeAccepted: 2}
		if diff := cmp.Diff(want, outcomes); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
	})
}
