package execution

import (
	"strings"

	"netsim/simulator/engine"
)

// ReceiptName is that of the result file from which a run can be repeated.
const ReceiptName = "receipt.json"

// Receipt is an order and what came of it, so that it can be repeated to the
// byte without the service.
type Receipt struct {
	Order

	Engine        string   `json:"engine"`
	EngineVersion string   `json:"engineVersion"`
	Partial       bool     `json:"partial"`
	End           End      `json:"end"`
	Results       []Result `json:"files"` // all others but engine snapshots
}

// How a run ended.
const (
	Finished = "finished" // every rank
	Limited  = "limited"  // simulated time reached its limit
	Stopped  = "stopped"  // from outside
	Failed   = "failed"
)

// End is how a run ended, and what it takes to end another one there.
type End struct {
	State  string `json:"state"`
	TimePs int64  `json:"timePs"` // simulated
	// Events is after how many events a run was stopped that was stopped between
	// two; nil for every other.
	Events *int64 `json:"stoppedAfterEvents,omitempty"`
	// Reports is after how many reports by interval that was, which are no events.
	Reports int64 `json:"stoppedAfterReports,omitempty"`
	// UpToPs is the simulated instant up to which a run was made again that had
	// been stopped there; 0 for every other.
	UpToPs int64  `json:"upToPs,omitempty"`
	Reason string `json:"reason,omitempty"` // of one that failed
}

// Partial reports whether a run ended before it was through.
func (e End) Partial() bool { return e.State != Finished && e.State != Limited }

// Result is a result file and its hash.
type Result struct {
	Name string `json:"name"`
	Hash string `json:"hash"` // sha256: and hex
	Size int64  `json:"size"` // bytes
}

// NewReceipt makes the receipt of a run of an engine. Its files are all result
// files that there are.
func NewReceipt(o Order, name, version string, end End, files []Result) Receipt {
	r := Receipt{Order: o, Engine: name, EngineVersion: version, End: end, Partial: end.Partial()}
	r.StartedAt = o.StartedAt.UTC()
	if o.Traceset != nil {
		t := *o.Traceset
		t.Files = append([]File{}, t.Files...)
		for i := range t.Files {
			t.Files[i].URL = ""
		}
		r.Traceset = &t
	}
	if o.MappingFile != nil {
		m := *o.MappingFile
		m.URL = ""
		r.MappingFile = &m
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name, "checkpoints/") {
			r.Results = append(r.Results, f)
		}
	}
	return r
}

// end is how the run ended.
func (r *Run) end(p engine.Progress, reason string) End {
	e := End{State: Failed, TimePs: p.Time, UpToPs: r.config.UpTo, Reason: reason}
	if r.result == nil {
		return e
	}
	if reason == "" {
		e.State = [...]string{Finished, Limited, Stopped}[r.result.End]
	}
	if r.config.UpTo > 0 && reason == "" {
		e.State = Stopped
	}
	if r.result.End == engine.Stopped {
		e.Events, e.Reports = &r.result.Events, r.result.Reports
	}
	return e
}
