package runs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/simulator/units"
)

// The levels of log entries, as they are stored.
const (
	levelDebug = iota
	levelInfo
	levelWarn
	levelError
)

// The components of log entries (completions.md 5.8).
const (
	componentProvisioner = "provisioner"
	componentEngine      = "engine"
	componentRank        = "rank"
)

const (
	maxEntries   = 100_000 // kept of a simulation; the oldest debug ones go first
	batchEntries = 1_000
	maxPending   = 10 * batchEntries // while the database does not answer
	flushTimeout = 5 * time.Second
)

// logbook keeps a run's log: entries in the database as they come, with
// wall-clock times, and run.log, whose lines carry simulated time only, so that
// a repeated run writes the same file.
//
// A log is not worth a run: when the database does not take entries they wait,
// and the oldest are dropped when too many do.
type logbook struct {
	db         *pgxpool.Pool
	simulation string
	now        func() time.Time
	log        *slog.Logger

	mu      sync.Mutex
	file    io.WriteCloser // run.log; nil before there is one
	fileErr error
	pending []entry
	lines   int64 // added so far
	kept    int64 // in the database
}

type entry struct {
	line      int64
	at        time.Time
	level     int16
	component string
	message   string
}

// begin forgets what an earlier attempt wrote.
func (l *logbook) begin(ctx context.Context) error {
	if _, err := l.db.Exec(ctx, `DELETE FROM netsim.simulation_logs WHERE simulation_id = $1`, l.simulation); err != nil {
		return fmt.Errorf("begin the log: %w", err)
	}
	return nil
}

// add adds an entry at a simulated instant, in picoseconds.
func (l *logbook) add(at int64, level int16, component, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	message := fmt.Sprintf(format, args...)
	l.lines++
	l.pending = append(l.pending, entry{l.lines, l.now(), level, component, message})
	if l.file != nil && l.fileErr == nil {
		_, l.fileErr = fmt.Fprintf(l.file, "%s %s %s %s\n",
			units.FormatDuration(at), [...]string{"debug", "info", "warn", "error"}[level], component, message)
	}
}

// full reports whether a batch waits.
func (l *logbook) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) >= batchEntries
}

// flush stores what waits. It goes through with it when ctx ends: of entries
// whose storing was cut off nobody knows whether they are there.
func (l *logbook) flush(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	if err := l.store(ctx); err != nil {
		l.log.WarnContext(ctx, "log entries could not be stored", "simulation", l.simulation, "error", err)
		if over := len(l.pending) - maxPending; over > 0 {
			l.pending = l.pending[over:]
		}
		return
	}
	l.pending = l.pending[:0]
}

func (l *logbook) store(ctx context.Context) error {
	n, err := l.db.CopyFrom(ctx, pgx.Identifier{"netsim", "simulation_logs"},
		[]string{"simulation_id", "line", "logged_at", "level", "component", "message"},
		pgx.CopyFromSlice(len(l.pending), func(i int) ([]any, error) {
			e := &l.pending[i]
			return []any{l.simulation, e.line, e.at, e.level, e.component, e.message}, nil
		}))
	if err != nil {
		return err
	}
	l.kept += n
	if l.kept <= maxEntries {
		return nil
	}
	tag, err := l.db.Exec(ctx, `
		DELETE FROM netsim.simulation_logs WHERE simulation_id = $1 AND line IN (
			SELECT line FROM netsim.simulation_logs WHERE simulation_id = $1 ORDER BY level > 0, line LIMIT $2)`,
		l.simulation, l.kept-maxEntries)
	l.kept -= tag.RowsAffected()
	if err != nil {
		// The entries are stored: they must not be stored again.
		l.log.WarnContext(ctx, "old log entries could not be dropped", "simulation", l.simulation, "error", err)
	}
	return nil
}

// end stores what waits and closes run.log.
func (l *logbook) end(ctx context.Context) error {
	l.flush(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	if l.fileErr != nil {
		return l.fileErr
	}
	file := l.file
	l.file = nil
	return file.Close()
}
