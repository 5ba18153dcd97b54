package results

import (
	"encoding/json"

	"netsim/simulator/engine"
	"netsim/simulator/units"
)

// Summary is the part of summary.json that the results listing shows
// (completions.md 5.3). It has durations and rates both as text and as exact numbers.
type Summary struct {
	EngineVersion string `json:"engineVersion"`
	End           string `json:"end"` // finished, limited or stopped

	SimulatedTime   string `json:"simulatedTime"`
	SimulatedTimePs int64  `json:"simulatedTimePs"`
	EventsProcessed int64  `json:"eventsProcessed"`
	Throughput      string `json:"throughput"` // delivered payload over simulated time
	ThroughputBps   int64  `json:"throughputBps"`

	TotalPackets int64  `json:"totalPackets"` // derived: ceil(bytes/MSS) of each transfer
	AvgLatency   string `json:"avgLatency"`   // mean transfer completion time
	AvgLatencyPs int64  `json:"avgLatencyPs"`
	DropRate     int    `json:"dropRate"` // always 0: flows are not dropped

	Transfers       int64 `json:"transfers"`
	Unlisted        int64 `json:"unlistedTransfers,omitempty"` // not in the per-transfer record
	PayloadBytes    int64 `json:"payloadBytes"`
	Collectives     int   `json:"collectives"`
	Ranks           int   `json:"ranks"`
	UnfinishedRanks int   `json:"unfinishedRanks"`
}

// Finished is the End of a run that ended because all was done.
const Finished = "finished"

// Summarize returns the summary of a result.
func Summarize(r *engine.Result) Summary {
	return Summary{
		EngineVersion: engine.Version, End: [...]string{Finished, "limited", "stopped"}[r.End],
		SimulatedTime: units.FormatDuration(r.Time), SimulatedTimePs: r.Time,
		EventsProcessed: r.Events,
		Throughput:      units.FormatRate(r.Throughput()), ThroughputBps: r.Throughput(),
		TotalPackets: r.Packets,
		AvgLatency:   units.FormatDuration(r.AvgLatency()), AvgLatencyPs: r.AvgLatency(),
		Transfers: r.Sends, PayloadBytes: r.Bytes, Collectives: r.Collectives,
		Ranks: r.RanksTotal, UnfinishedRanks: len(r.Unfinished),
	}
}

func (r *Recorder) writeSummary(result *engine.Result) error {
	s := Report{Summarize(result), r.explain(result)}
	s.Unlisted = result.Sends - r.listed
	r.headline = headlineOf(&s.Explained)
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	w, err := r.config.Create("summary.json")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	if e := w.Close(); err == nil {
		err = e
	}
	return err
}
