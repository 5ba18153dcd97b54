package execution

import (
	"bufio"
	"fmt"
	"io"

	"netsim/simulator/engine"
	"netsim/simulator/results"
	"netsim/simulator/snapshot"
)

// of is what the state of a run is of; its results and its engine say more.
const of = "execution of engine " + engine.Version

// Resume goes on with a run of the same order from a state that
// Config.Checkpoint saved: with Config.Reopen it opens the files that were open
// then. The state is read on when the engine runs. Then or now, one that cannot
// be used is snapshot.ErrRefused. Other errors are those of Reopen and of the
// reader.
func Resume(in *Inputs, c Config, state io.Reader) (*Run, error) {
	r := &Run{in: in, config: c, state: bufio.NewReader(state)}
	r.limit()
	if err := snapshot.Read(r.state, of, r.latest.Visit); err != nil {
		return nil, fmt.Errorf("read where the run is: %w", err)
	}
	file, err := c.Reopen(LogName)
	if err != nil {
		return nil, err
	}
	r.log = runLog{file: file, tell: c.Tell}
	if r.recorder, err = results.Resume(r.recording(), r.state); err != nil {
		return nil, fmt.Errorf("go on with the results: %w", err)
	}
	return r, nil
}

// save writes the state. What the result files hold by then belongs to it.
func (r *Run) save(w io.Writer, rest func(io.Writer) error) error {
	if err := snapshot.Write(w, of, r.latest.Visit); err != nil {
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

// limit tells the engine what it keeps to.
func (r *Run) limit() {
	o := &r.in.Options
	o.MaxFlows, o.MaxReports = r.config.MaxFlows, results.MaxReports(r.in.Fabric)
	o.ProgressEvents = 4096 // a few milliseconds: how soon a stop is noticed
	o.StopAfter, o.StopReports = r.config.StopAfter, r.config.StopReports
	if r.config.UpTo > 0 {
		o.Limit = min(o.Limit, r.config.UpTo)
	}
}

// recording is what the result files are of.
func (r *Run) recording() results.Config {
	return results.Config{
		Simulation: r.in.Order.Name, Start: r.in.Order.StartedAt.UTC(), Fabric: r.in.Fabric,
		Create: r.config.Create, Reopen: r.config.Reopen, MaxTransfers: maxTransfers, ScaleUp: r.in.listed(),
		Hosts: r.in.hosts, Seats: r.in.scaleUp,
	}
}

// checkpoints is how the engine offers to save its state.
func (r *Run) checkpoints() func(func(io.Writer) error) error {
	if r.config.Checkpoint == nil {
		return nil
	}
	return func(save func(io.Writer) error) error {
		return r.config.Checkpoint(func(w io.Writer) error { return r.save(w, save) })
	}
}
