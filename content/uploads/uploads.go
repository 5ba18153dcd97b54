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

// Config says what uploads are made with.
type Config struct {
	Commands *handle.Handler
	DB       projections.Reader
	Objects  *objects.Store
	Locks    postgres.Locks
	Log      *slog.Logger
	Now      func() time.Time
	Life     time.Duration // of a session (completions 6.2)
	Patience time.Duration // for another that is at the same content
	// EnqueueClear has Clear called for an upload.
	EnqueueClear func(ctx context.Context, upload string) error
}

// Uploads takes what clients upload. It is safe for concurrent use.
type Uploads struct {
	Config

	ending  context.Context // ends with Close
	end     context.CancelFunc
	running sync.WaitGroup
	places  chan struct{} // of completions
}

// completions is how many go on at a time in a process. Each has two locks at
// most, and reads files at the speed of a core.
const completions = 4

// LockSessions is how many sessions of PostgreSQL the locks need.
const LockSessions = 2 * completions

// New makes uploads. Close ends what goes on.
func New(c Config) *Uploads {
	ctx, cancel := context.WithCancel(context.Background())
	return &Uploads{Config: c, ending: ctx, end: cancel, places: make(chan struct{}, completions)}
}

// Close interrupts the completions that go on and returns when they have ended.
func (u *Uploads) Close() {
	u.end()
	u.running.Wait()
}

// inPeace does the work to its end, however long the request waits that asked
// for it. When too many are at work, it waits for its turn.
func (u *Uploads) inPeace(request context.Context, upload string, work func(context.Context) error) error {
	select {
	case u.places <- struct{}{}:
	default:
		select {
		case u.places <- struct{}{}:
		case <-request.Done():
			return &fault.Fault{
				Code: fault.Unavailable, Message: "too many uploads are being completed; repeat the request", RetryAfter: 5 * time.Second,
			}
		}
	}
	done := make(chan error, 1)
	u.running.Go(func() {
		defer func() { <-u.places }()
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

// guarded is the work, of which a panic is an error.
func guarded(ctx context.Context, work func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return work(ctx)
}

// errAway says that it was the object store that did not do what was asked.
var errAway = errors.New("the object store does not answer")

// away is the fault of an object store that does not answer. What has a code,
// or is the client's body's, stays as it is.
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

// result is the stream of what an upload becomes.
func result(row *projections.Upload) handle.Target {
	return handle.Target{Stream: row.ResultID, PartitionKey: row.WorkspaceID}
}

// session is the stream of an upload.
func session(row *projections.Upload) handle.Target {
	return handle.Target{Stream: row.ID, PartitionKey: row.WorkspaceID}
}
