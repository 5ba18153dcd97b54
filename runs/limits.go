package runs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"netsim/runs/execution"
	"netsim/simulator/units"
)

// Limits are the limits of one run. A zero field sets no limit, except TraceBytes.
type Limits struct {
	Flows       int           // transfers in flight at once, some 250 bytes of memory each; see Room
	TraceBytes  int64         // memory of replayed traces; 0 is the default of execution.Inputs
	ResultBytes int64         // of the result files
	Time        time.Duration // wall-clock time, over all workers
}

func (l Limits) flows() int          { return cmp.Or(l.Flows, math.MaxInt) }
func (l Limits) results() int64      { return cmp.Or(l.ResultBytes, math.MaxInt64) }
func (l Limits) time() time.Duration { return cmp.Or(l.Time, math.MaxInt64) }

// check refuses inputs whose run would exceed a limit.
func (l Limits) check(in *execution.Inputs) error {
	if n := in.Flows(); n > int64(l.flows()) {
		return unfit("the workload has %d transfers in flight at once, more than the %d that a run may have", n, l.flows())
	}
	return nil
}

// read checks the inputs, and reads their traces.
func (l Limits) read(ctx context.Context, in *execution.Inputs) error {
	if err := l.check(in); err != nil {
		return err
	}
	in.TraceBytes = l.TraceBytes
	return in.Read(ctx)
}

// excess is the error of a run that exceeds a limit. The run fails with the results
// so far.
type excess struct{ reason string }

// Error implements error.
func (e excess) Error() string { return e.reason }

// exceeds returns the excess of the run, or nil.
func (a *attempt) exceeds() error {
	switch {
	case a.takes() > a.Limits.time():
		return a.Limits.tooLong()
	case a.files.written.Load() > a.Limits.results():
		return a.Limits.tooMuch()
	}
	return nil
}

func (l Limits) tooLong() excess {
	return excess{fmt.Sprintf("the run takes longer than the %s that a run may take", l.time())}
}

func (l Limits) tooMuch() excess {
	return excess{fmt.Sprintf("the result files have more than the %s that a run may write", units.FormatSize(l.results()))}
}

// takes returns the wall-clock time of the run, with that of earlier attempts up to
// the snapshot from which it resumed.
func (a *attempt) takes() time.Duration { return a.ran + a.Now().Sub(a.began) }
