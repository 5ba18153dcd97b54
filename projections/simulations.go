package projections

import (
	"encoding/json"
	"strings"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/columns"
)

// Simulation is a row of the simulations.
type Simulation struct {
	ID                   string
	AccountID            string
	WorkspaceID          string
	ConfigurationID      string
	ConfigurationVersion int64
	Name                 string
	Status               string
	Item                 string // the simulation's list item, as JSON
	Origin               string
	DurationNs           int64
	Duration             string
	CheckpointIntervalNs int64 // 0: no checkpoints
	MappingFileID        string
	TracesetID           string
	Simple               string // canonical JSON of the normalised submission
	CreatedBy            string
	SandboxID            string
	Engine               string // "" before the start
	RunID                string
	BaseURL              string // of a remote engine
	Capabilities         string // of a remote engine, joined by spaces
	Ranks                int64
	FailureReason        string
	events.Progress
	UnfinishedRanks   int64
	ProgressedAt      *time.Time // when the progress was reported
	StalledSince      *time.Time // nil while simulated time moves
	Checkpoint        int64      // index of the last checkpoint, 0 before the first
	CheckpointKey     string     // object key of the last checkpoint
	EarlierCheckpoint string     // object key of the checkpoint before it, "" for none
	ResultsPrefix     string
	ResultsManifest   string // "" until published
	ResultsBytes      int64
	TotalPackets      int64
	AvgLatencyPs      int64
	StudyID           string // "" without a study
	StudyPoint        int64
	StudyRound        int64
	DominatedBy       int64  // the point of the study that dominates this one, if there is a reason
	DominationReason  string // why the study stopped the run, "" if it did not
	events.Figures           // of whole results; an input hash also before, if the simulation is of a study
	Deleted           string // reason of the deletion, request, workspace or study; "" if not deleted
	CreatedAt         time.Time
	StartedAt         *time.Time
	CompletedAt       *time.Time
}

// Simulations is the projection of the simulations.
type Simulations struct {
	table[Simulation]

	history simulationHistory // of the batch
}

// NewSimulations returns the projection.
func NewSimulations() *Simulations {
	p := &Simulations{table: table[Simulation]{
		name: "simulations", file: "simulations.sql", columns: simulationColumns,
		keyOf: streamOf(events.SimulationPrefix), first: begins, insertsNew: true,
	}}
	p.table.fold = func(s *Simulation, f *events.Fact) {
		foldSimulation(s, f)
		p.history.add(s, f)
	}
	return p
}

var simulationColumns = columns.Of[Simulation]()

// foldSimulation applies a fact to all columns but Item, which is made once after all facts
// of a batch.
func foldSimulation(s *Simulation, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.SimulationRequested:
		*s = requestedSimulation(f, d)
	case events.SimulationValidated:
		s.Status = commands.Provisioning
	case events.SimulationInvalidated:
		s.Status, s.FailureReason, s.CompletedAt = commands.Invalid, d.Reason, timeOf(f)
	case events.SimulationStarted:
		s.Status, s.Engine, s.RunID, s.Ranks = commands.Running, d.Engine, d.RunID, d.Ranks
		s.BaseURL, s.Capabilities, s.StartedAt = d.BaseURL, strings.Join(d.Capabilities, " "), timeOf(f)
	case events.SimulationReordered:
		s.RunID, s.BaseURL, s.Capabilities = d.RunID, d.BaseURL, strings.Join(d.Capabilities, " ")
	case events.SimulationProgressed:
		s.reach(f, d.Progress)
		s.StalledSince = nil
		if !d.StalledSince.IsZero() {
			s.StalledSince = &d.StalledSince
		}
	case events.SimulationCheckpointed:
		s.EarlierCheckpoint = s.CheckpointKey
		s.Checkpoint, s.CheckpointKey = d.Index, d.ObjectKey
	case events.SimulationYielded:
		s.reach(f, d.Progress)
		s.StalledSince = nil
	case events.SimulationResultsPublished:
		s.ResultsPrefix, s.ResultsManifest, s.ResultsBytes = d.Prefix, d.Manifest, d.Bytes
		s.TotalPackets, s.AvgLatencyPs = d.TotalPackets, d.AvgLatencyPs
		if d.Figures != (events.Figures{}) {
			s.Figures = d.Figures
		}
		if d.Reached.SimulatedTimeNs > s.SimulatedTimeNs { // the run was terminated between two reports
			s.reach(f, d.Reached)
		}
	case events.SimulationCompleted:
		s.Status, s.UnfinishedRanks, s.CompletedAt = commands.Completed, d.UnfinishedRanks, timeOf(f)
		s.reach(f, d.Progress)
		s.StalledSince = nil
	case events.SimulationFailed:
		s.Status, s.FailureReason, s.CompletedAt = commands.Failed, d.Reason, timeOf(f)
		s.reach(f, d.Progress)
	case events.SimulationTerminated:
		s.Status, s.CompletedAt = commands.Terminated, timeOf(f)
		s.DominatedBy, s.DominationReason = d.Dominated.Point, d.Dominated.Reason
		s.reach(f, d.Progress)
	case events.SimulationDeleted:
		s.Deleted = d.Reason
	}
}

// BegunSimulation returns the row that the request of a simulation makes.
func BegunSimulation(requested *events.Event) Simulation {
	s := begun(foldSimulation, requested)
	s.Item = s.item()
	return s
}

// After returns the row after one more event.
func (s Simulation) After(e *events.Event) Simulation {
	foldSimulation(&s, &events.Fact{Event: *e})
	s.Item = s.item()
	return s
}

func requestedSimulation(f *events.Fact, d events.SimulationRequested) Simulation {
	s := Simulation{
		ID: f.Stream, AccountID: d.AccountID, WorkspaceID: d.WorkspaceID,
		ConfigurationID: d.ConfigurationID, ConfigurationVersion: d.ConfigurationVersion,
		Name: d.Name, Status: commands.Validating, Origin: d.Origin,
		DurationNs: d.DurationNs, Duration: d.Duration,
		MappingFileID: d.MappingFileID, TracesetID: d.TracesetID, Simple: d.Simple,
		CreatedBy: f.Actor, SandboxID: d.SandboxID, CreatedAt: f.Time,
		StudyID: d.Study.ID, StudyPoint: d.Study.Point, StudyRound: d.Study.Round,
		Figures: events.Figures{InputHash: d.Study.InputHash},
	}
	if d.Origin == commands.OriginSimple {
		s.Status = commands.Provisioning
	}
	if d.Checkpointing.Enabled {
		s.CheckpointIntervalNs = d.Checkpointing.IntervalNs
	}
	return s
}

// item renders the simulation's list item. Only the name can need escaping; the
// other values are plain ASCII.
func (s *Simulation) item() string {
	name, _ := json.Marshal(s.Name) //nolint:errchkjson // a string always encodes
	b := make([]byte, 0, 320)
	b = append(b, `{"id":"`...)
	b = append(b, s.ID...)
	b = append(b, `","workspaceId":"`...)
	b = append(b, s.WorkspaceID...)
	b = append(b, `","configurationId":"`...)
	b = append(b, s.ConfigurationID...)
	b = append(b, `","configurationVersion":`...)
	b = appendInt(b, s.ConfigurationVersion)
	b = append(b, `,"name":`...)
	b = append(b, name...)
	b = append(b, `,"status":"`...)
	b = append(b, s.Status...)
	b = append(b, `","createdAt":"`...)
	b = s.CreatedAt.UTC().AppendFormat(b, events.TimeLayout)
	return string(append(b, `"}`...))
}

// Apply implements Projection.
func (p *Simulations) Apply(writes *columns.Writes, facts []events.Fact) error {
	var counts workspaceCounts
	var items simulationItems
	p.history = simulationHistory{}
	p.apply(writes, facts, func(before, after *Simulation) {
		after.Item = after.item()
		items.add(before, after)
		total, active := tally(after)
		if before != nil {
			t, a := tally(before)
			total, active = total-t, active-a
		}
		counts.add(after.WorkspaceID, after.AccountID, total, active, before == nil)
	})
	counts.queue(writes, "simulation_counts")
	items.queue(writes)
	p.history.queue(writes)
	return nil
}

// tally returns the numbers that a simulation adds to its workspace's counts.
func tally(s *Simulation) (total, active int64) {
	if s.Deleted != "" {
		return 0, 0
	}
	if commands.Final(s.Status) {
		return 1, 0
	}
	return 1, 1
}
