package execution

import (
	"strings"

	"netsim/simulator/engine"
	"netsim/simulator/results"
)

// ReceiptName is the name of the result file from which a run can be repeated.
const ReceiptName = "receipt.json"

// Receipt is an order and its outcome. With a receipt, a user can repeat the run
// without the service and get the same bytes.
type Receipt struct {
	Order

	Engine        string   `json:"engine"`
	EngineVersion string   `json:"engineVersion"`
	Transport     string   `json:"transport,omitempty"` // that the configuration's NICs declare
	Partial       bool     `json:"partial"`
	End           End      `json:"end"`
	Results       []Result `json:"files"` // all result files except the receipt and engine snapshots
}

// How a run ended.
const (
	Finished = "finished" // every rank has finished
	Limited  = "limited"  // simulated time has reached its limit
	Stopped  = "stopped"  // the caller has stopped it
	Failed   = "failed"
)

// End says how a run ended, and where to stop a repetition of it.
type End struct {
	State  string `json:"state"`
	TimePs int64  `json:"timePs"` // simulated time
	// Events is the number of events before a stop between two events; nil for any
	// other end.
	Events *int64 `json:"stoppedAfterEvents,omitempty"`
	// Reports is the number of periodic reports before that stop. They do not count
	// as events.
	Reports int64 `json:"stoppedAfterReports,omitempty"`
	// UpToPs is the simulated time up to which a stopped run was repeated to write
	// its results; 0 for any other end.
	UpToPs int64  `json:"upToPs,omitempty"`
	Reason string `json:"reason,omitempty"` // of a failure
}

// Partial reports whether a run failed or was stopped before its end.
func (e End) Partial() bool { return e.State != Finished && e.State != Limited }

// Result is a result file and its hash.
type Result struct {
	Name string `json:"name"`
	Hash string `json:"hash"` // sha256: and hex
	Size int64  `json:"size"` // bytes
}

// NewReceipt makes the receipt of a run from all its result files.
func NewReceipt(o Order, name, version string, end End, files []Result) Receipt {
	r := Receipt{Order: o, Engine: name, EngineVersion: version, End: end, Partial: end.Partial()}
	r.StartedAt = o.StartedAt.UTC()
	if d, err := o.Configuration(); err == nil {
		if t, err := d.Transport(); err == nil { // else the run failed for that reason
			r.Transport = t.String()
		}
	}
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

// Headline returns the headline of the results, after Close.
func (r *Run) Headline() results.Headline { return r.recorder.Headline() }

// end returns how the run ended.
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
