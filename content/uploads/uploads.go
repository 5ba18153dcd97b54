package uploads

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"netsim/commands/handle"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/projections"
)

// Config has the dependencies and settings of Uploads.
type Config struct {
	Commands *handle.Handler
	DB       projections.Reader
	Objects  *objects.Store
	Locks    postgres.Locks
	Log      *slog.Logger
	Now      func() time.Time
	// Lifetime is how long a session stays open (completions 6.2).
	Lifetime time.Duration
	// LockTimeout is how long to wait for the lock of a session or of content.
	LockTimeout time.Duration
	// EnqueueClear enqueues a job that calls Clear.
	EnqueueClear func(ctx context.Context, upload string) error
}

// Uploads stores what clients upload. It is safe for concurrent use.
type Uploads struct {
	Config

	ending  context.Context // ends with Close
	end     context.CancelFunc
	running sync.WaitGroup
	slots   chan struct{} // one for each running completion
}

// completions is how many completions run at a time in a process. Each holds at
// most two locks, and keeps about one core busy.
const completions = 4

// LockSessions is how many PostgreSQL sessions the locks need.
const LockSessions = 2 * completions

// New returns Uploads. Close ends its completions.
func New(c Config) *Uploads {
	ctx, cancel := context.WithCancel(context.Background())
	return &Uploads{Config: c, ending: ctx, end: cancel, slots: make(chan struct{}, completions)}
}

// Close cancels the running completions and waits until they have ended.
func (u *Uploads) Close() {
	u.end()
	u.running.Wait()
}

// detached waits for a slot and does the work to its end. If the request ends
// first, detached returns Unavailable and the work continues.
func (u *Uploads) detached(request context.Context, upload string, work func(context.Context) error) error {
	select {
	case u.slots <- struct{}{}:
	default:
		select {
		case u.slots <- struct{}{}:
		case <-request.Done():
			return &fault.Fault{
				Code: fault.Unavailable, Message: "too many uploads are being completed; repeat the request", RetryAfter: 5 * time.Second,
			}
		}
	}
	done := make(chan error, 1)
	u.running.Go(func() {
		defer func() { <-u.slots }()
		ctx, cancel := context.WithCancel(context.WithoutCancel(request))
		defer cancel()
		defer context.AfterFunc(u.ending, cancel)()
		err := guarded(ctx, work)
		if request.Err() != nil {
			u.Log.InfoContext(ctx, "a completion outlasted its request", "upload", upload, "error", err)
		}
		done <- err
	})
	select {
	case err := <-done:
		return err
	case <-request.Done():
		return fault.Unknown(request.Err())
	}
}

// guarded does the work and returns a panic as an error.
func guarded(ctx context.Context, work func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return work(ctx)
}

// errAway marks the errors of an object store that does not answer.
var errAway = errors.New("the object store does not answer")

// away turns an error of the object store into Unavailable. It returns errors
// with a code, and the error of a request body that is too large, unchanged.
func away(err error) error {
	if err == nil || fault.CodeOf(err) != fault.Internal {
		return err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return &fault.Fault{
		Code: fault.Unavailable, Message: "the object store does not answer; repeat the request", RetryAfter: time.Second,
		Cause: errors.Join(errAway, err),
	}
}

// result returns the stream of the traceset or mapping file of an upload.
func result(row *projections.Upload) handle.Target {
	return handle.Target{Stream: row.ResultID, PartitionKey: row.WorkspaceID}
}

// session returns the stream of an upload.
func session(row *projections.Upload) handle.Target {
	return handle.Target{Stream: row.ID, PartitionKey: row.WorkspaceID}
}
