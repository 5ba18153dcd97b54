package reactions_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/simple"
	"netsim/content/simple/unfold"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/postgres"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/reactions"
	"netsim/runs"
	"netsim/simulator/collective"
)

// stand is a world and what its reactions enqueue.
type stand struct {
	*testworld.World
	runs, purges []string
}

func newStand(t *testing.T) *stand { return &stand{World: testworld.New(t)} }

func (s *stand) submissions() *unfold.Submissions {
	workloads := &unfold.Workloads{Commands: s.Commands, DB: s.DB, Objects: s.Objects, Locks: postgres.Locks{Pool: s.DB}}
	return &unfold.Submissions{Commands: s.Commands, Workloads: workloads, EnqueueRun: note(&s.runs)}
}

func (s *stand) simulation() *reactions.Simulation {
	stage := runs.Stage{DB: s.DB, Objects: s.Objects}
	return &reactions.Simulation{
		Commands: s.Commands, DB: s.DB, Check: stage.Check, EnqueueRun: note(&s.runs), EnqueuePurge: note(&s.purges),
	}
}

func note(list *[]string) func(context.Context, string) error {
	return func(_ context.Context, id string) error {
		*list = append(*list, id)
		return nil
	}
}

// fact returns the fact that a command recorded.
func fact(r handle.Result) events.Fact { return events.Fact{Event: *r.Event} }

// react gives a fact to a reaction twice, because facts are delivered at least once.
func react(t *testing.T, reaction func(context.Context, events.Fact) error, f events.Fact) {
	t.Helper()
	for range 2 {
		if err := reaction(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
}

func submission(t *testing.T, workspace, id string, ranks int) events.SimulationRequested {
	t.Helper()
	s, err := simple.Parse(&api.SimpleSubmission{Workload: &api.SimpleWorkload{Ranks: int64(ranks), Phases: api.SimplePhases{
		{OperationType: collective.AllReduce, DataSize: 1 << 20},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r := events.SimulationRequested{AccountID: testworld.Account, WorkspaceID: workspace, Name: "one"}
	s.Fill(&r, id)
	return r
}

// submit makes a simple submission and its inputs.
func (s *stand) submit(t *testing.T, workspace string, ranks int) (string, events.SimulationRequested) {
	t.Helper()
	id := events.NewID(events.SimulationPrefix)
	r := submission(t, workspace, id, ranks)
	react(t, s.submissions().React, fact(testworld.In(t, s.World, workspace, id, commands.RequestSimulation{Requested: r})))
	return id, r
}

func TestSimpleSubmission(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	first, r := s.submit(t, events.DefaultWorkspace, 8)
	second, other := s.submit(t, events.DefaultWorkspace, 8)

	if diff := cmp.Diff([]string{first, first, second, second}, s.runs); diff != "" {
		t.Errorf("enqueued (-want +got):\n%s", diff)
	}
	if other.TracesetID != r.TracesetID {
		t.Error("the same workload has two tracesets")
	}
	traceset, err := projections.FindTraceset(t.Context(), s.DB, r.TracesetID)
	if err != nil {
		t.Fatal(err)
	}
	if traceset.Status != "ready" || traceset.RankCount != 8 || len(traceset.LibraryHash) != 64 ||
		!strings.HasPrefix(traceset.Name, "simple-allreduce-8-") {
		t.Errorf("traceset %+v", traceset)
	}
	for _, id := range []string{r.ConfigurationID, other.ConfigurationID} {
		c, _, err := projections.NewLookups(s.DB).Configuration(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if c.Status != commands.Validated || c.Name != "one" || c.TracesetID != r.TracesetID || c.ComponentCount != 3 {
			t.Errorf("configuration %+v", c)
		}
	}
}

// TestStart: a simulation that is started from a stored configuration is
// checked again before it may run.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		given  func(t *testing.T, s *stand, r *events.SimulationRequested)
		status string
		reason string // with %t for the traceset and %c for the configuration
	}{
		{"all is well", func(*testing.T, *stand, *events.SimulationRequested) {}, commands.Provisioning, ""},
		{"the version is not validated", func(t *testing.T, s *stand, r *events.SimulationRequested) {
			testworld.Do(t, s.World, r.ConfigurationID, commands.ValidateConfiguration{
				ID: r.ConfigurationID, Version: 1, Status: commands.Invalid, Findings: "[]",
			})
		}, commands.Invalid, "version 1 of configuration %c is invalid, not validated"},
		{"there is no such version", func(_ *testing.T, _ *stand, r *events.SimulationRequested) {
			r.ConfigurationVersion = 7
		}, commands.Invalid, "configuration %c has no version 7"},
		{"the traceset is deleted", func(t *testing.T, s *stand, r *events.SimulationRequested) {
			testworld.Do(t, s.World, r.TracesetID, commands.DeleteTraceset{ID: r.TracesetID})
		}, commands.Invalid, "traceset %t is deleted, not ready"},
		{"the bytes are gone", func(t *testing.T, s *stand, _ *events.SimulationRequested) {
			if err := s.Objects.DeletePrefix(t.Context(), "libraries/"); err != nil {
				t.Fatal(err)
			}
		}, commands.Invalid, "file workload.simple.json of the traceset is not stored"},
		{"the configuration is deleted, of which the simulation has its copy", func(t *testing.T, s *stand, r *events.SimulationRequested) {
			testworld.Do(t, s.World, r.ConfigurationID, commands.DeleteConfiguration{ID: r.ConfigurationID})
		}, commands.Provisioning, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			_, r := s.submit(t, events.DefaultWorkspace, 8)
			r.Origin, r.Simple = commands.OriginStart, ""
			c.given(t, s, &r)
			id := events.NewID(events.SimulationPrefix)
			f := fact(testworld.Do(t, s.World, id, commands.RequestSimulation{Requested: r}))

			react(t, s.simulation().React, f)

			want := strings.NewReplacer("%c", r.ConfigurationID, "%t", r.TracesetID).Replace(c.reason)
			if sim := s.Simulation(t, id); sim.Status != c.status || sim.FailureReason != want {
				t.Errorf("simulation is %s: %q, want %s: %q", sim.Status, sim.FailureReason, c.status, want)
			}
		})
	}
}

// TestRunAndPurge: the run of a simulation that passed its check is enqueued, and so
// is the removal of a deleted one's files.
func TestRunAndPurge(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	f := func(d events.Data) events.Fact {
		return events.Fact{Event: events.Event{Frame: events.Frame{Stream: "sim_a"}, Data: d}}
	}
	react(t, s.simulation().React, f(events.SimulationValidated{}))
	react(t, s.simulation().React, f(events.SimulationDeleted{}))
	react(t, s.simulation().React, f(events.SimulationProgressed{}))
	if diff := cmp.Diff([][]string{{"sim_a", "sim_a"}, {"sim_a", "sim_a"}}, [][]string{s.runs, s.purges}); diff != "" {
		t.Errorf("enqueued (-want +got):\n%s", diff)
	}
}

// TestQueueIsAway: an error of the queue is returned, so that the reaction is
// retried.
func TestQueueIsAway(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	s := reactions.Simulation{EnqueueRun: func(context.Context, string) error { return away }}
	if err := s.React(t.Context(), events.Fact{Event: events.Event{Data: events.SimulationValidated{}}}); !errors.Is(err, away) {
		t.Errorf("error %v", err)
	}
}

func TestWorkspaceCascade(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	workspace := events.NewID(events.WorkspacePrefix)
	testworld.In(t, s.World, workspace, workspace, commands.CreateWorkspace{AccountID: testworld.Account, Owner: "tester", Name: "one"})
	ended, r := s.submit(t, workspace, 8)
	running, _ := s.submit(t, workspace, 16)
	elsewhere, other := s.submit(t, events.DefaultWorkspace, 32)
	testworld.In(t, s.World, workspace, ended, commands.FailSimulation{Failed: events.SimulationFailed{Reason: "test"}})
	testworld.In(t, s.World, workspace, running, commands.StartSimulation{Started: events.SimulationStarted{Engine: "builtin", RunID: "run", Ranks: 16}})
	w := reactions.Workspace{Commands: s.Commands, DB: s.DB}

	f := fact(testworld.In(t, s.World, workspace, workspace, commands.DeleteWorkspace{ID: workspace}))
	react(t, w.React, f)

	row, err := projections.FindWorkspace(t.Context(), s.DB, workspace)
	if err != nil {
		t.Fatal(err)
	}
	if row.State != projections.Deleted {
		t.Errorf("workspace is %s", row.State)
	}
	for id, want := range map[string]string{ended: "workspace", running: "", elsewhere: ""} {
		if got := s.Simulation(t, id).Deleted; got != want {
			t.Errorf("simulation %s: deleted because of %q, want %q", id, got, want)
		}
	}
	for id, want := range map[string]bool{r.ConfigurationID: true, other.ConfigurationID: false} {
		c, _, err := projections.NewLookups(s.DB).Configuration(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if c.Deleted != want {
			t.Errorf("configuration %s: deleted is %v", id, c.Deleted)
		}
	}
	var counts events.WorkspaceDeleted
	for kind, n := range map[projections.Owned]*int64{
		projections.OwnedConfigurations: &counts.Configurations, projections.OwnedTracesets: &counts.Tracesets,
		projections.OwnedSimulations: &counts.Simulations,
	} {
		if *n, err = projections.CountCommanded(t.Context(), s.DB, kind, workspace,
			events.DerivedUUID(workspace, "cascade").String()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(events.WorkspaceDeleted{Configurations: 2, Simulations: 1, Tracesets: 2}, counts); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}

	// The running simulation is deleted once it has ended.
	end := fact(testworld.In(t, s.World, workspace, running, commands.TerminateSimulation{ID: running, By: "tester"}))
	react(t, w.React, end)
	if got := s.Simulation(t, running).Deleted; got != "workspace" {
		t.Errorf("the simulation that ran on is deleted because of %q", got)
	}
	end = fact(testworld.Do(t, s.World, elsewhere, commands.FailSimulation{Failed: events.SimulationFailed{Reason: "test"}}))
	react(t, w.React, end)
	if got := s.Simulation(t, elsewhere).Deleted; got != "" {
		t.Errorf("a simulation of another workspace is deleted because of %q", got)
	}
}

// TestUnfoldAndReact: after Unfold, React changes nothing.
func TestUnfoldAndReact(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	id := events.NewID(events.SimulationPrefix)
	r := submission(t, events.DefaultWorkspace, id, 8)
	f := fact(testworld.Do(t, s.World, id, commands.RequestSimulation{Requested: r}))
	read, err := simple.Read(r.Simple)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.submissions().Unfold(t.Context(), handle.Origin{}, id, r, read); err != nil {
		t.Fatal(err)
	}
	testworld.Do(t, s.World, r.TracesetID, commands.DeleteTraceset{ID: r.TracesetID})
	react(t, s.submissions().React, f)
	traceset, err := projections.FindTraceset(t.Context(), s.DB, r.TracesetID)
	if err != nil {
		t.Fatal(err)
	}
	if traceset.Status != projections.Deleted {
		t.Error("the reaction made the traceset again that was deleted after the submission was answered")
	}
	if err := s.submissions().React(t.Context(), events.Fact{Event: events.Event{Data: events.SimulationRequested{
		Origin: commands.OriginSimple, Simple: "{",
	}}}); err == nil || fault.CodeOf(err) != fault.Internal {
		t.Errorf("a submission that cannot be read gave %v", err)
	}
}
