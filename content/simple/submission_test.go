package simple_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/api"
	"netsim/commands"
	"netsim/content/simple"
	"netsim/events"
	"netsim/fault"
)

// TestAStoredSubmissionIsTheSame: a submission that is read from a request has the text,
// the traceset and the configuration of the one that filled the request in.
func TestAStoredSubmissionIsTheSame(t *testing.T) {
	t.Parallel()
	made, err := simple.Parse(&api.SimpleSubmission{Workload: &api.SimpleWorkload{Ranks: 8, Phases: api.SimplePhases{
		{OperationType: "allReduce", DataSize: 1 << 20},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	const id = "sim_00000000000000000000000042"
	requested := events.SimulationRequested{AccountID: "acc"}
	made.Fill(&requested, id)
	read, err := simple.Read(requested.Simple)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made, read); diff != "" {
		t.Errorf("read from the request (-made +read):\n%s", diff)
	}
	again := events.SimulationRequested{AccountID: "acc"}
	read.Fill(&again, id)
	if diff := cmp.Diff(requested, again); diff != "" || requested.Origin != commands.OriginSimple {
		t.Errorf("the request of the read submission (-made +read):\n%s", diff)
	}
	if got, want := made.Name(id), "simple-allreduce-8-00000042"; got != want {
		t.Errorf("the default name is %q, want %q", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	if _, err := simple.Parse(&api.SimpleSubmission{Topology: "fat-tree"}); !fault.Is(err, fault.Validation) {
		t.Errorf("a reserved member gave %v", err)
	}
}
