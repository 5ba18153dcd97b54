package events

// studyEvents lists the events of studies.
func studyEvents() []entry {
	return []entry{
		of[StudyStarted](),
		of[StudyAdvanced](),
		of[StudyCompleted](),
		of[StudyTerminated](),
		of[StudyResumed](),
		of[StudyDeleted](),
	}
}

// StudyStarted records that a study was started: one base, which is a submission or a
// version of a configuration, and axes whose values replace fields of it. Its points are
// numbered from 0, and its number of points does not change.
type StudyStarted struct {
	AccountID   string      `json:"accountId"`
	WorkspaceID string      `json:"workspaceId"`
	Name        string      `json:"name"`
	Kind        string      `json:"kind"` // simple or configuration: what the base is
	Base        string      `json:"base"` // canonical JSON text of the base
	Axes        []StudyAxis `json:"axes"`
	Method      string      `json:"method"`         // grid, list or sample
	Points      int64       `json:"points"`         // with the replicates
	Seed        int64       `json:"seed,omitempty"` // of a sample
	SandboxID   string      `json:"sandboxId,omitempty"`
	// StopDominated is whether runs are terminated that can no longer be on the front.
	StopDominated bool `json:"stopDominated,omitempty"`
	// Replicates is how many points in a row differ in their seeds only; absent for one.
	Replicates int64  `json:"replicates,omitempty"`
	Prices     string `json:"prices,omitempty"`  // canonical JSON text of the study's own price list
	Servers    bool   `json:"servers,omitempty"` // whether a price includes those of the servers
}

// StudyAxis is a field of the base, and the values that it takes.
type StudyAxis struct {
	Field  string   `json:"field"`  // such as workload.phases[0].algorithm
	Values []string `json:"values"` // canonical JSON texts
}

// StudyAdvanced records that all points before To have a run, or take the result of
// another one. A run is requested after this event, unless the point is in Shared.
type StudyAdvanced struct {
	To     int64         `json:"to"`
	Shared []SharedPoint `json:"shared,omitempty"` // of the points that this event adds
}

// SharedPoint is a point that takes the result of a run with equal inputs.
type SharedPoint struct {
	Point        int64  `json:"point"`
	SimulationID string `json:"simulationId,omitempty"` // absent: the run is that of point SameAs
	SameAs       int64  `json:"sameAs,omitempty"`
}

// StudyCompleted records that every point has a result, or has failed.
type StudyCompleted struct {
	Points int64 `json:"points"`
}

// StudyTerminated records that no more points are started. Its unfinished runs are
// cancelled or terminated after this event.
type StudyTerminated struct {
	Reason string `json:"reason"` // request, or why the service ended it
}

// StudyResumed records that a terminated study goes on. Points whose runs were cancelled
// or terminated get new runs.
type StudyResumed struct {
	Round int64 `json:"round"` // 1 for the first resumption
}

// StudyDeleted records that a study was deleted. Its runs are deleted after this event.
type StudyDeleted struct {
	Reason string `json:"reason"` // request or workspace
}

func (StudyStarted) EventType() string    { return "netsim.study.started.v1" }
func (StudyAdvanced) EventType() string   { return "netsim.study.advanced.v1" }
func (StudyCompleted) EventType() string  { return "netsim.study.completed.v1" }
func (StudyTerminated) EventType() string { return "netsim.study.terminated.v1" }
func (StudyResumed) EventType() string    { return "netsim.study.resumed.v1" }
func (StudyDeleted) EventType() string    { return "netsim.study.deleted.v1" }
