package execution

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"netsim/simulator/engine"
	"netsim/simulator/results"
	"netsim/simulator/units"
)

// Builtin is the name of this program's engine in configurations.
const Builtin = "builtin"

// maxTransfers limits the rows of the per-transfer record, to about 1 GB, and those of the
// record of computations. summary.json counts the omitted transfers.
const maxTransfers = 5_000_000

// LogName is the name of the result file with the run's log.
const LogName = "run.log"

// Config has the callbacks and limits of a run. The goroutine that calls Start, Run
// and Close also calls its functions. All but Create may be nil; Resume also needs
// Reopen.
type Config struct {
	// Create creates a result file. Its Close publishes the file.
	Create func(name string) (io.WriteCloser, error)
	// Log is called with every log entry.
	Log func(Entry)
	// Progress is called every few milliseconds.
	Progress func()
	// Snapshot is called every few milliseconds. Before it returns, it may call save
	// to write the state from which Resume continues.
	Snapshot func(save func(io.Writer) error) error
	// Reopen opens a file that was open when the state was saved. Resume writes after
	// the content that the file had then.
	Reopen func(name string) (io.WriteCloser, error)

	// MaxFlows limits the transfers in flight at once, and thereby the memory of a
	// run: a transfer takes about 260 bytes. 0 is the engine's default.
	MaxFlows int
	// UpTo stops the run at this simulated time, in picoseconds; 0 is never.
	UpTo int64
	// StopAfter and StopReports stop the run after these numbers of events and
	// periodic reports. If both are 0, they do not stop it.
	StopAfter, StopReports int64
}

// Run is one run of an engine on inputs.
type Run struct {
	in       *Inputs
	config   Config
	log      runLog
	recorder *results.Recorder
	result   *engine.Result // nil until the engine has ended without error
	state    io.Reader      // saved state to resume from, nil for a new run

	mu     sync.Mutex
	latest engine.Progress
}

// Start creates the result files. Its errors are those of Create.
func Start(in *Inputs, c Config) (*Run, error) {
	file, err := c.Create(LogName)
	if err != nil {
		return nil, err
	}
	r := &Run{in: in, config: c, log: runLog{file: file, emit: c.Log}}
	r.limit()
	r.log.add(0, Info, Engine, "engine %s %s starts with seed %d, limit %s",
		Builtin, engine.Version, in.Options.Seed, units.FormatDuration(in.Options.Limit))
	r.recorder, err = results.New(r.recording())
	return r, err
}

// Panic is the error of a run whose engine panicked. Its text is safe to show to
// clients.
type Panic struct {
	Value any
	Stack string
}

// Error implements error.
func (*Panic) Error() string { return "the engine stopped unexpectedly" }

// Run runs the engine to its end or until ctx ends. The end of ctx is no error: the
// result says that the run was stopped. An error is the reason why the run failed,
// and there is no result.
func (r *Run) Run(ctx context.Context) (result *engine.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, &Panic{p, string(debug.Stack())}
		}
	}()
	if r.state == nil {
		r.result, err = engine.Run(ctx, r.in.Input(), r.observer())
	} else {
		r.result, err = engine.Resume(ctx, r.in.Input(), r.state, r.observer())
	}
	return r.result, err
}

// observer returns the engine's callbacks. They write the result files and the log,
// and store the progress for Progress.
func (r *Run) observer() engine.Observer {
	o := r.recorder.Observer()
	collective, rank := o.Collective, o.Rank
	o.Collective = func(c *engine.Collective) error {
		if c.Finished {
			r.log.add(c.End, Debug, Engine, "collective %d of group %s, %s %s of %s, took %s; ideal %s",
				c.ID, cmp.Or(c.GroupName, strconv.Itoa(int(c.Group))), c.OperationType, c.Algorithm, units.FormatSize(c.DataSize),
				units.FormatDuration(c.End-c.Start), units.FormatDuration(c.Ideal))
		}
		return collective(c)
	}
	o.Rank = func(k *engine.Rank) error {
		if k.Finished {
			r.log.add(k.Time, Debug, Rank, "rank %d finished, %d sends, %d receives", k.Rank, k.Sends, k.Receives)
		}
		return rank(k)
	}
	o.Snapshot = r.snapshots()
	o.Progress = func(p *engine.Progress) error {
		r.mu.Lock()
		r.latest = *p
		r.mu.Unlock()
		if r.config.Progress != nil {
			r.config.Progress()
		}
		return nil
	}
	return o
}

// Progress returns the progress of the run. It is safe for concurrent use.
func (r *Run) Progress() engine.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest
}

// Close logs how the run ended, and closes every result file. A reason other than ""
// says why the run failed. Close returns the end for the receipt.
func (r *Run) Close(reason string) (End, error) {
	p := r.Progress()
	if r.result != nil {
		p = r.result.Progress
	}
	if reason == "" {
		r.note()
	} else {
		r.log.add(p.Time, Error, Engine, "%s", reason)
	}
	if err := r.recorder.Close(r.result); err != nil {
		return End{}, fmt.Errorf("close the results: %w", err)
	}
	if err := r.keepInputs(); err != nil {
		return End{}, fmt.Errorf("keep the inputs: %w", err)
	}
	if err := r.log.close(); err != nil {
		return End{}, fmt.Errorf("close the log: %w", err)
	}
	return r.end(p, reason), nil
}

// keepInputs copies to the results the inputs that may be deleted before them: the
// mapping file, which its owner may delete, and the workload of a simple submission,
// which the service makes and does not keep.
func (r *Run) keepInputs() error {
	for _, f := range r.in.kept {
		w, err := r.config.Create(f.name)
		if err != nil {
			return err
		}
		if _, err := w.Write(f.content); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

// note logs how the run ended.
func (r *Run) note() {
	how := [...]string{"every rank finished", "simulated time reached its limit", "the run was stopped"}[r.result.End]
	if r.config.UpTo > 0 {
		how = "the run was stopped" // this run repeats a stopped one up to its recorded progress
	}
	r.log.add(r.result.Time, Info, Engine, "%s: %d events, %s delivered, %s",
		how, r.result.Events, units.FormatSize(r.result.Bytes), units.FormatRate(r.result.Throughput()))
	if n := len(r.result.Unfinished); n > 0 {
		r.log.add(r.result.Time, Warn, Engine, "%d of %d ranks have not finished, the first is rank %d",
			n, r.result.RanksTotal, r.result.Unfinished[0])
	}
}

// Failure adds the last finished collective to the reason for which the run failed.
func (r *Run) Failure(reason string) string { return Failure(reason, r.Progress().LastCollective) }

// Failure adds the last finished collective, "" for none, to the reason for which a
// run failed (completions.md 5.1).
func Failure(reason, lastCollective string) string {
	const phrase = "the last finished collective is "
	if strings.Contains(reason, phrase) {
		return reason
	}
	return reason + "; " + phrase + cmp.Or(lastCollective, "none")
}
