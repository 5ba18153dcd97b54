package execution

import (
	"bufio"
	"fmt"
	"io"

	"netsim/simulator/engine"
	"netsim/simulator/results"
	"netsim/simulator/snapshot"
)

// sectionName is the name of the section that this package writes in a snapshot. The
// sections of the results and of the engine follow it.
const sectionName = "execution of engine " + engine.Version

// Resume continues a run of the same order from a state that Config.Snapshot
// saved. It calls Config.Reopen for the files that were open then. Run.Run reads
// the rest of the state. Both return snapshot.ErrRefused for a state that cannot be
// used. Other errors are those of Reopen and of the reader.
func Resume(in *Inputs, c Config, state io.Reader) (*Run, error) {
	r := &Run{in: in, config: c, state: bufio.NewReader(state)}
	r.limit()
	if err := snapshot.Read(r.state, sectionName, r.latest.Visit); err != nil {
		return nil, fmt.Errorf("read the state of the run: %w", err)
	}
	file, err := c.Reopen(LogName)
	if err != nil {
		return nil, err
	}
	r.log = runLog{file: file, emit: c.Log}
	if r.recorder, err = results.Resume(r.recording(), r.state); err != nil {
		return nil, fmt.Errorf("resume the results: %w", err)
	}
	return r, nil
}

// save writes the buffered rows to the result files, and then the state of the run.
func (r *Run) save(w io.Writer, rest func(io.Writer) error) error {
	if err := snapshot.Write(w, sectionName, r.latest.Visit); err != nil {
		return err
	}
	if err := r.recorder.Save(w); err != nil {
		return err
	}
	if r.log.err != nil {
		return r.log.err
	}
	return rest(w)
}

// limit sets the limits of the engine.
func (r *Run) limit() {
	o := &r.in.Options
	o.MaxFlows, o.MaxReports = r.config.MaxFlows, results.MaxReports(r.in.Fabric)
	o.ProgressEvents = 4096 // a few milliseconds, after which a stop is noticed
	o.CriticalPath = true
	o.StopAfter, o.StopReports = r.config.StopAfter, r.config.StopReports
	if r.config.UpTo > 0 {
		o.Limit = min(o.Limit, r.config.UpTo)
	}
}

// recording returns the configuration of the result recorder.
func (r *Run) recording() results.Config {
	return results.Config{
		Simulation: r.in.Order.Name, Start: r.in.Order.StartedAt.UTC(), Fabric: r.in.Fabric,
		Create: r.config.Create, Reopen: r.config.Reopen, MaxTransfers: maxTransfers, ScaleUp: r.in.listed(),
		Hosts: r.in.hosts, Seats: r.in.scaleUp,
	}
}

// snapshots returns the engine's callback for snapshots, nil for none.
func (r *Run) snapshots() func(func(io.Writer) error) error {
	if r.config.Snapshot == nil {
		return nil
	}
	return func(save func(io.Writer) error) error {
		return r.config.Snapshot(func(w io.Writer) error { return r.save(w, save) })
	}
}
