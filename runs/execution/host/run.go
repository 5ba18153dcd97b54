package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"netsim/runs/execution"
	"netsim/simulator/engine"
)

// The states of a run.
const (
	running    = "running"
	completed  = "completed"
	failed     = "failed"
	terminated = "terminated"
)

// maxEntries limits the log of a run. The oldest entries are dropped.
const maxEntries = 100_000

// errTooLong ends runs that exceed Config.Within.
var errTooLong = errors.New("the run takes too long")

// run is one order and its outcome.
type run struct {
	id    string
	order execution.Order

	ctx    context.Context
	cancel context.CancelFunc // stops the engine between two events

	// The host's lock protects these fields.
	endedAt   time.Time // zero until the run has ended
	size      int64     // bytes of its results
	forgotten bool      // the client has freed the run; its files are removed at its end

	mu      sync.Mutex
	state   string
	reason  string         // of a failure
	engine  *execution.Run // nil until the engine has started
	end     execution.End
	results []execution.Result
	logs    []entry
	lines   int64 // number of entries ever added to logs
}

type entry struct {
	execution.Entry

	number int64
	at     time.Time
}

func (r *run) dir() string { return runPrefix + r.id }

// carryOut executes a run. Each run has its own goroutine.
func (h *Host) carryOut(r *run) {
	defer h.active.Done()
	emit := func(e execution.Entry) { r.emit(e, h.config.Now()) }
	results, err := h.guarded(r, emit)
	stopped := r.ctx.Err() != nil
	r.cancel()
	if err != nil {
		emit(execution.Entry{Level: execution.Error, Component: execution.Provisioner, Message: err.Error()})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r.endedAt = h.config.Now()
	for _, f := range results {
		r.size += f.Size
	}
	if r.forgotten {
		h.remove(r)
	}
	r.conclude(results, stopped, err)
}

// conclude records how the run ended.
func (r *run) conclude(results []execution.Result, stopped bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = results
	switch {
	case err != nil && errors.Is(context.Cause(r.ctx), errTooLong) && r.engine == nil:
		r.state, r.reason = failed, errTooLong.Error()
	case err != nil && stopped && r.engine == nil: // before the engine started
		r.state = terminated
	case err != nil:
		r.state, r.reason = failed, err.Error()
	case r.end.State == execution.Failed:
		r.state, r.reason = failed, r.end.Reason
	case r.end.State == execution.Stopped:
		r.state = terminated
	default:
		r.state = completed
	}
}

// guarded calls simulate, and recovers from a panic that unexpected inputs cause.
func (h *Host) guarded(r *run, emit func(execution.Entry)) (results []execution.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			h.config.Log.Error("the inputs of a run made the host panic", "run", r.id, "panic", p, "stack", string(debug.Stack()))
			err = errors.New("inputs could not be staged: the engine cannot read them")
		}
	}()
	return h.simulate(r, emit)
}

// simulate fetches the inputs and runs the engine on them. Its error is the reason
// of the failure.
func (h *Host) simulate(r *run, emit func(execution.Entry)) (results []execution.Result, err error) {
	dirs, err := h.newDirectories(r)
	if err != nil {
		return nil, h.internal(r, err)
	}
	defer h.close(r, dirs)
	size, err := h.fetchAll(r.ctx, &r.order, dirs.files)
	if err != nil {
		return nil, fmt.Errorf("inputs could not be staged: %w", err)
	}
	files := &execution.Folder{Dir: dirs.files, Unpack: dirs.unpacked, MaxUnpacked: max(h.config.RunBytes-size, 1)} // 0 would be the default
	in, err := execution.Prepare(r.ctx, &r.order, files)
	if err == nil {
		err = in.Read(r.ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("inputs could not be staged: %w", err)
	}
	in.Describe(emit)
	out := &execution.Outcome{Dir: dirs.results, MaxBytes: max(h.config.RunBytes-size-unpackedBytes(dirs.unpacked), 1)}
	defer out.Abandon()
	started, err := execution.Start(in, execution.Config{Create: out.Create, Log: emit, MaxFlows: h.config.MaxFlows})
	if err != nil {
		return nil, h.internal(r, err)
	}
	r.mu.Lock()
	r.engine = started
	r.mu.Unlock()
	err = h.finish(r, started)
	return out.Files, err
}

// finish runs the engine and closes the results.
func (h *Host) finish(r *run, started *execution.Run) error {
	result, err := started.Run(r.ctx)
	reason := ""
	if err == nil && result.End == engine.Stopped && errors.Is(context.Cause(r.ctx), errTooLong) {
		reason = started.Failure(fmt.Sprintf("the run took longer than %s", h.config.Within))
	}
	if crash := new(execution.Panic); errors.As(err, &crash) {
		h.config.Log.Error("the engine panicked", "run", r.id, "panic", crash.Value, "stack", crash.Stack)
	}
	if err != nil {
		reason = started.Failure(err.Error())
	}
	if tooMuch := new(execution.TooMuch); errors.As(err, tooMuch) {
		return errors.New(reason) // the results have reached their limit, so nothing more can be written
	}
	end, err := started.Close(reason)
	if tooMuch := new(execution.TooMuch); errors.As(err, tooMuch) {
		return *tooMuch
	}
	if err != nil {
		return h.internal(r, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = end
	return nil
}

// internal logs a fault of the host, and returns the error that the client sees.
func (h *Host) internal(r *run, err error) error {
	h.config.Log.Error("a run failed for a reason of the host", "run", r.id, "error", err)
	return errors.New("the engine cannot keep the files of the run")
}

func (r *run) emit(e execution.Entry, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines++
	if len(r.logs) == maxEntries {
		r.logs = r.logs[maxEntries/10:]
	}
	r.logs = append(r.logs, entry{e, r.lines, now})
}

// directories are the directories of a run.
type directories struct{ files, unpacked, results *os.Root }

func (h *Host) newDirectories(r *run) (*directories, error) {
	d := new(directories)
	for name, root := range map[string]**os.Root{"files": &d.files, "unpacked": &d.unpacked, "results": &d.results} {
		path := r.dir() + "/" + name
		err := h.root.MkdirAll(path, 0o700)
		if err == nil {
			*root, err = h.root.OpenRoot(path)
		}
		if err != nil {
			h.close(r, d)
			return nil, err
		}
	}
	return d, nil
}

// close closes a run's directories and removes its inputs.
func (h *Host) close(r *run, d *directories) {
	for _, root := range []*os.Root{d.files, d.unpacked, d.results} {
		if root != nil {
			root.Close() //nolint:errcheck // every file in it is closed
		}
	}
	for _, name := range []string{"files", "unpacked"} {
		h.root.RemoveAll(r.dir() + "/" + name) //nolint:errcheck // it is removed with the run at the latest
	}
}

// unpackedBytes returns the size of the files in a directory.
func unpackedBytes(root *os.Root) (sum int64) {
	entries, _ := fs.ReadDir(root.FS(), ".") // an unreadable directory counts as empty
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// open opens a result file.
func (h *Host) open(r *run, name string) (io.ReadSeekCloser, error) {
	return h.root.Open(r.dir() + "/results/" + name)
}
