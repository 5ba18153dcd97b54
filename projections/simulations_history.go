package projections

import (
	"encoding/json"
	"math"
	"math/bits"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/columns"
)

// RunProgress is the last recorded progress of a run.
type RunProgress struct {
	events.Progress
	At           time.Time  `json:"at"`
	Ranks        int64      `json:"ranks"`
	EventRate    int64      `json:"eventRate"`              // events a second, since the run started
	RemainingNs  *int64     `json:"remainingNs,omitempty"`  // estimated wall-clock time to the end; nil when unknown
	StalledSince *time.Time `json:"stalledSince,omitempty"` // nil while simulated time moves
}

// reach stores the progress of a run.
func (s *Simulation) reach(f *events.Fact, p events.Progress) {
	s.Progress = p
	if s.StartedAt != nil && p.EventsProcessed > 0 {
		s.ProgressedAt = timeOf(f)
	}
}

// RunProgress returns the last recorded progress, nil before the first.
func (s *Simulation) RunProgress() *RunProgress {
	if s.ProgressedAt == nil {
		return nil
	}
	p := &RunProgress{Progress: s.Progress, At: *s.ProgressedAt, Ranks: s.Ranks, StalledSince: s.StalledSince}
	elapsed := p.At.Sub(*s.StartedAt)
	if elapsed > 0 {
		p.EventRate = scale(int64(time.Second), s.EventsProcessed, int64(elapsed))
	}
	if s.Status == commands.Running && s.StalledSince == nil {
		p.RemainingNs = s.remaining(int64(elapsed))
	}
	return p
}

// remaining estimates the wall-clock time to the end. It extrapolates delivered
// bytes and simulated time at their average speed so far, and takes the earlier
// end.
func (s *Simulation) remaining(elapsed int64) *int64 {
	least := int64(math.MaxInt64)
	for _, part := range [...]struct{ done, of int64 }{{s.DeliveredBytes, s.TotalBytes}, {s.SimulatedTimeNs, s.DurationNs}} {
		if part.done > 0 && part.of > 0 {
			least = min(least, scale(elapsed, max(part.of-part.done, 0), part.done))
		}
	}
	if least == math.MaxInt64 {
		return nil
	}
	return &least
}

// scale returns floor(a·b/c) for a, b ≥ 0 and c > 0, at most math.MaxInt64.
func scale(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, math.MaxInt64))
}

// moment is a row of the table simulation_history.
type moment struct {
	SimulationID string
	Sequence     int64
	MomentAt     time.Time
	Progressed   bool
	Status       string
	Reason       string
	Progress     string // JSON of a RunProgress, "" before there is any
}

var momentColumns = columns.Of[moment]()

// simulationHistory collects the moments that a batch adds, and the simulations
// whose history it deletes.
type simulationHistory struct {
	moments []*moment
	gone    []string
}

// add adds the moment of the fact, or notes that the fact deleted the simulation.
func (h *simulationHistory) add(s *Simulation, f *events.Fact) {
	m := moment{SimulationID: s.ID, Sequence: f.Sequence, MomentAt: f.Time, Status: s.Status, Reason: s.FailureReason}
	switch f.Data.(type) {
	case events.SimulationProgressed:
		m.Progressed = true
	case events.SimulationRequested, events.SimulationValidated, events.SimulationInvalidated, events.SimulationStarted,
		events.SimulationCompleted, events.SimulationFailed, events.SimulationTerminated:
	case events.SimulationDeleted:
		h.gone = append(h.gone, s.ID)
		return
	default:
		return
	}
	if p := s.RunProgress(); p != nil {
		text, _ := json.Marshal(p) //nolint:errchkjson // integers, strings and times in this range always encode
		m.Progress = string(text)
	}
	h.moments = append(h.moments, &m)
}

func (h *simulationHistory) queue(writes *columns.Writes) {
	momentColumns.Upsert(writes, "simulation_history", h.moments, nil, "ON CONFLICT DO NOTHING")
	if len(h.gone) > 0 {
		writes.Queue(`DELETE FROM simulation_history WHERE simulation_id = ANY($1)`, h.gone)
	}
}
