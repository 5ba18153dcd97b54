package events

import "time"

// simulationEvents lists the events of simulations.
func simulationEvents() []entry {
	return []entry{
		of[SimulationRequested](),
		of[SimulationValidated](),
		of[SimulationInvalidated](),
		of[SimulationStarted](),
		of[SimulationReordered](),
		of[SimulationProgressed](),
		of[SimulationCheckpointed](),
		of[SimulationYielded](),
		of[SimulationResumed](),
		of[SimulationResultsPublished](),
		of[SimulationCompleted](),
		of[SimulationFailed](),
		of[SimulationTerminated](),
		of[SimulationDeleted](),
	}
}

// SimulationRequested records that a simulation was requested by a start (state
// validating) or by a simple submission (state provisioning).
// Source: completions 5.1, 5.2, 4.3, 8 row 19.
type SimulationRequested struct {
	Origin               string        `json:"origin"` // start or simple
	AccountID            string        `json:"accountId"`
	WorkspaceID          string        `json:"workspaceId"`
	ConfigurationID      string        `json:"configurationId"`
	ConfigurationVersion int64         `json:"configurationVersion"`
	Name                 string        `json:"name"`
	DurationNs           int64         `json:"durationNs"` // bound on simulated time
	Duration             string        `json:"duration"`   // as the client sent it
	Checkpointing        Checkpointing `json:"checkpointing"`
	MappingFileID        string        `json:"mappingFileId,omitempty"`
	TracesetID           string        `json:"tracesetId,omitempty"`
	Simple               string        `json:"simple,omitempty"` // canonical JSON text of the normalised submission
	SandboxID            string        `json:"sandboxId,omitempty"`
	Study                StudyPoint    `json:"study,omitzero"` // if the simulation is a point of a study
}

// StudyPoint is the point of a study that a simulation runs.
type StudyPoint struct {
	ID        string `json:"id"`              // of the study
	Point     int64  `json:"point"`           // from 0
	Round     int64  `json:"round,omitempty"` // how often the study was resumed before the request
	InputHash string `json:"inputHash"`       // of what the run computes from, see SimulationResultsPublished
}

// Checkpointing is how a start requests engine snapshots.
type Checkpointing struct {
	Enabled    bool  `json:"enabled"`
	IntervalNs int64 `json:"intervalNs"` // wall-clock time between snapshots
}

// SimulationValidated records that the recheck passed: validating → provisioning.
type SimulationValidated struct {
	DocumentHash string `json:"documentHash"` // sha256: of the configuration version's canonical text
}

// SimulationInvalidated records that the recheck failed: validating → invalid.
type SimulationInvalidated struct {
	Reason string `json:"reason"`
}

// SimulationStarted records that an engine took the run: provisioning → running.
type SimulationStarted struct {
	Engine  string `json:"engine"` // builtin or remote
	RunID   string `json:"runId"`
	BaseURL string `json:"baseUrl,omitempty"` // of a remote engine
	Ranks   int64  `json:"ranks"`
	// Capabilities of a remote engine: terminate. The built-in engine has all.
	Capabilities []string `json:"capabilities,omitempty"`
}

// SimulationReordered records that a remote engine lost the run, and that it or
// another engine accepted it again, from the beginning. The platform link is new,
// the state stays running.
type SimulationReordered struct {
	RunID        string   `json:"runId"`
	BaseURL      string   `json:"baseUrl"`
	Capabilities []string `json:"capabilities,omitempty"`
}

// Progress is how far a run has come.
type Progress struct {
	SimulatedTimeNs int64 `json:"simulatedTimeNs"`
	EventsProcessed int64 `json:"eventsProcessed"`
	DeliveredBytes  int64 `json:"deliveredBytes"`
	FinishedRanks   int64 `json:"finishedRanks"`

	TotalBytes          int64  `json:"totalBytes,omitempty"` // of the whole workload; 0 when unknown
	FinishedCollectives int64  `json:"finishedCollectives,omitempty"`
	TotalCollectives    int64  `json:"totalCollectives,omitempty"`
	LastCollective      string `json:"lastCollective,omitempty"` // the last that finished, in words
}

// SimulationProgressed records progress, at most once in five seconds, or a stall.
type SimulationProgressed struct {
	Progress
	StalledSince time.Time `json:"stalledSince,omitzero"` // when simulated time last advanced; absent while it advances
}

// SimulationCheckpointed records that an engine snapshot of a running simulation is
// in the object store. Another worker can resume from it. Source: completions 5.2,
// 8 row 24.
type SimulationCheckpointed struct {
	Index           int64  `json:"index"` // from 1
	ObjectKey       string `json:"objectKey"`
	SimulatedTimeNs int64  `json:"simulatedTimeNs"` // simulated time of the snapshot
}

// SimulationYielded records that a worker stored an engine snapshot of a running
// simulation and left it for another run. The run waits for a worker, and is not billed
// until it resumes. Source: completions section 11.
type SimulationYielded struct {
	Progress
}

// SimulationResumed records that a worker continues a run that had yielded.
type SimulationResumed struct{}

// SimulationResultsPublished records that the result files, whole or partial,
// are in the object store.
type SimulationResultsPublished struct {
	Prefix       string   `json:"prefix"`   // prefix of the object keys
	Manifest     string   `json:"manifest"` // object key of the list of files
	Files        int64    `json:"files"`
	Bytes        int64    `json:"bytes"`
	TotalPackets int64    `json:"totalPackets"`
	AvgLatencyPs int64    `json:"avgLatencyPs"` // mean transfer completion time
	Partial      bool     `json:"partial"`
	Reached      Progress `json:"reached,omitzero"` // the progress that the files cover; missing in the first events of this type
	Figures      Figures  `json:"figures,omitzero"` // of whole results of the built-in engine
}

// Figures sum up the results of a run.
type Figures struct {
	// InputHash is the SHA-256 of the engine's version and of all inputs that its
	// results depend on. Equal hashes mean equal results.
	InputHash     string `json:"inputHash"`
	EngineVersion string `json:"engineVersion"`
	TimePs        int64  `json:"timePs"`        // simulated time
	GoodputBps    int64  `json:"goodputBps"`    // delivered payload over simulated time
	MeanLinkPpm   int64  `json:"meanLinkPpm"`   // mean utilisation of the links of the busiest tier and direction
	BusiestTier   string `json:"busiestTier"`   // that tier and direction, such as rsw ul
	Bottleneck    string `json:"bottleneck"`    // the resources that limited flows longest, such as links fsw dl
	BottleneckPpm int64  `json:"bottleneckPpm"` // their part of the flow time
	ExposedPpm    int64  `json:"exposedPpm"`    // mean part of the ranks' time without computation
}

// SimulationCompleted records running → completed.
type SimulationCompleted struct {
	Progress
	UnfinishedRanks int64 `json:"unfinishedRanks"`
}

// SimulationFailed records provisioning or running → failed.
type SimulationFailed struct {
	Progress
	Reason string `json:"reason"`
}

// SimulationTerminated records running → terminated.
type SimulationTerminated struct {
	Progress
	By        string     `json:"by"`                 // user id
	Dominated Domination `json:"dominated,omitzero"` // why a study stopped the run, if it did
}

// Domination is why a study stopped a run before its end: another point of the study is not
// dearer, and is faster whatever the rest of the run would take.
type Domination struct {
	Point        int64  `json:"point"`        // the other point
	SimulationID string `json:"simulationId"` // that has its result
	Reason       string `json:"reason"`       // a sentence with the figures of both
}

// SimulationDeleted records that a simulation was deleted.
type SimulationDeleted struct {
	Reason string `json:"reason"` // request, workspace or study
}

func (SimulationRequested) EventType() string   { return "netsim.simulation.requested.v1" }
func (SimulationValidated) EventType() string   { return "netsim.simulation.validated.v1" }
func (SimulationInvalidated) EventType() string { return "netsim.simulation.invalidated.v1" }
func (SimulationStarted) EventType() string     { return "netsim.simulation.started.v1" }
func (SimulationReordered) EventType() string   { return "netsim.simulation.reordered.v1" }
func (SimulationProgressed) EventType() string  { return "netsim.simulation.progressed.v1" }
func (SimulationYielded) EventType() string     { return "netsim.simulation.yielded.v1" }
func (SimulationResumed) EventType() string     { return "netsim.simulation.resumed.v1" }
func (SimulationCheckpointed) EventType() string {
	return "netsim.simulation.checkpointed.v1"
}
func (SimulationResultsPublished) EventType() string {
	return "netsim.simulation.results_published.v1"
}
func (SimulationCompleted) EventType() string  { return "netsim.simulation.completed.v1" }
func (SimulationFailed) EventType() string     { return "netsim.simulation.failed.v1" }
func (SimulationTerminated) EventType() string { return "netsim.simulation.terminated.v1" }
func (SimulationDeleted) EventType() string    { return "netsim.simulation.deleted.v1" }
