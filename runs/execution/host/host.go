// Package host is an engine server: it executes orders that it receives over HTTP, on a
// machine without the service. The protocol is described in docs/engine-protocol.md.
//
// A host keeps files in a directory, but no state over a restart. After a restart the
// client orders its runs again. The host limits the concurrent runs, the bytes of an
// order, of a run and of the directory, and the number and age of ended runs.
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Config is the configuration of a host. Only Token and Dir are required.
type Config struct {
	Token string // the secret that every request must have
	Dir   string // used by one host at a time; New removes the runs in it

	Runs        int           // concurrent runs; 0 is 2
	Kept        int           // ended runs that are kept; 0 is 100
	KeptFor     time.Duration // how long an ended run is kept; 0 is a day
	OrderBytes  int64         // maximum size of an order; 0 is 64 MB
	RunBytes    int64         // maximum size of a run's inputs and results; 0 is 10 GB
	TotalBytes  int64         // maximum size of all runs' inputs and results; 0 is 100 GB
	MaxFlows    int           // maximum transfers in flight in a run; 0 is the engine's default
	Within      time.Duration // maximum wall-clock time of a run; 0 is a day
	FetchWithin time.Duration // timeout for each input file; 0 is 15 min

	Now func() time.Time // nil is time.Now
	Log *slog.Logger     // nil discards
}

// Host runs orders.
type Host struct {
	config Config
	root   *os.Root
	lock   *os.File
	client *http.Client
	ctx    context.Context // parent of every run's context
	cancel context.CancelFunc
	active sync.WaitGroup // goroutines of the runs and of expire

	mu      sync.Mutex
	runs    map[string]*run // by id
	ordered map[string]*run // by simulation
	closed  bool
}

// New locks the directory, removes the runs in it, and returns a host without runs.
// It fails if another host uses the directory.
func New(c Config) (*Host, error) {
	if c.Token == "" {
		return nil, errors.New("the host of an engine needs a token")
	}
	c.Runs, c.Kept, c.KeptFor = cmp.Or(c.Runs, 2), cmp.Or(c.Kept, 100), cmp.Or(c.KeptFor, 24*time.Hour)
	c.OrderBytes, c.RunBytes, c.TotalBytes = cmp.Or(c.OrderBytes, 64e6), cmp.Or(c.RunBytes, 10e9), cmp.Or(c.TotalBytes, 100e9)
	c.FetchWithin, c.Within = cmp.Or(c.FetchWithin, 15*time.Minute), cmp.Or(c.Within, 24*time.Hour)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(c.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close() //nolint:errcheck // it was not written
		return nil, fmt.Errorf("another engine uses the directory: %w", err)
	}
	h := &Host{config: c, lock: lock, client: fetching(), runs: map[string]*run{}, ordered: map[string]*run{}}
	if h.root, err = os.OpenRoot(c.Dir); err == nil {
		err = h.sweep()
	}
	if err != nil {
		lock.Close() //nolint:errcheck // it was not written
		return nil, err
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.active.Go(h.expire)
	return h, nil
}

const runPrefix = "run-"

// sweep removes the files of all runs from the directory.
func (h *Host) sweep() error {
	entries, err := os.ReadDir(h.config.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), runPrefix) {
			if err := h.root.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close stops all runs and removes their files.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.active.Wait()
	return errors.Join(h.sweep(), h.root.Close(), h.lock.Close())
}

// expire removes ended runs that are too old.
func (h *Host) expire() {
	every := time.NewTicker(min(h.config.KeptFor, time.Minute))
	defer every.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-every.C:
		}
		h.mu.Lock()
		for _, r := range h.ended() {
			if h.config.Now().Sub(r.endedAt) >= h.config.KeptFor {
				h.forget(r)
			}
		}
		h.mu.Unlock()
	}
}

// makeRoom removes ended runs, the oldest first, while there are too many or they
// use too much space. It reports whether the host can take another run. The caller
// holds the lock.
func (h *Host) makeRoom() bool {
	ended := h.ended()
	bytes := int64(0)
	for _, r := range ended {
		bytes += r.size
	}
	running := len(h.runs) - len(ended)
	if h.closed || running >= h.config.Runs {
		return false
	}
	room := h.config.TotalBytes - int64(running+1)*h.config.RunBytes
	for i, r := range ended {
		if len(ended)-i <= h.config.Kept && bytes <= room {
			break
		}
		bytes -= r.size
		h.forget(r)
	}
	return bytes <= room
}

// ended returns the runs that have ended, the oldest first.
func (h *Host) ended() (list []*run) {
	for _, r := range h.runs {
		if !r.endedAt.IsZero() {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *run) int { return cmp.Or(a.endedAt.Compare(b.endedAt), cmp.Compare(a.id, b.id)) })
	return list
}

// forget removes a run and its files. A run that has not ended is stopped, and its
// files are removed at its end. The caller holds the lock.
func (h *Host) forget(r *run) {
	delete(h.runs, r.id)
	delete(h.ordered, r.order.SimulationID)
	r.forgotten = true
	if r.endedAt.IsZero() {
		r.cancel()
		return
	}
	h.remove(r)
}

func (h *Host) remove(r *run) {
	if err := h.root.RemoveAll(r.dir()); err != nil {
		h.config.Log.Error("the files of a run cannot be removed", "run", r.id, "error", err)
	}
}
