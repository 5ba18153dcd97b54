package servicetest

import (
	"testing"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// Painted is an event of another release: no process of this one knows it.
type Painted struct {
	Colour string `json:"colour"`
}

// EventType implements events.Data.
func (Painted) EventType() string { return "netsim.workspace.painted.v1" }

type paint struct{}

// Decide implements commands.Command.
func (paint) Decide(*commands.Workspace, time.Time) (events.Data, error) {
	return Painted{"green"}, nil
}

// Park parks the stream of a workspace: another process records that it is painted. The fact
// is also a dead letter.
func (p *Program) Park(t testing.TB, workspace string) handle.Result {
	t.Helper()
	return p.Do(t, workspace, paint{})
}

// Do runs a command on a workspace in another process.
func (p *Program) Do(t testing.TB, workspace string, c commands.Command[commands.Workspace]) handle.Result {
	t.Helper()
	r, err := handle.Command(t.Context(), p.Beside(t).Commands, handle.Target{Stream: workspace, PartitionKey: workspace}, handle.Origin{Actor: events.System}, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
