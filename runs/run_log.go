package runs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/commands"
	"netsim/projections"
	"netsim/runs/execution"
)

const (
	maxEntries   = 100_000 // stored for a simulation; the oldest debug entries are dropped first
	batchEntries = 1_000
	maxPending   = 10 * batchEntries // in memory while the database does not answer
	flushTimeout = 5 * time.Second
)

// The components of log entries that the service adds (completions.md 5.8).
const (
	service   = "service"
	validator = "validator"
)

// runLog stores the log of a run in the database, with wall-clock times. Package
// execution writes the result file run.log.
//
// The log never fails the run. While the database does not answer, entries wait in
// memory, and the oldest are dropped if there are too many.
type runLog struct {
	db         *pgxpool.Pool
	simulation string
	now        func() time.Time
	log        *slog.Logger

	mu      sync.Mutex
	pending []entry
	begun   bool  // whether the entries of earlier attempts are removed
	lines   int64 // number of entries added so far
	kept    int64 // number of entries in the database
}

type entry struct {
	execution.Entry

	line int64
	at   time.Time
}

// dropLines is the SQL that removes the entries of earlier attempts after a line.
const dropLines = `DELETE FROM netsim.simulation_logs WHERE simulation_id = $1 AND line > $2`

// begin removes the entries of earlier attempts after the given line.
func (l *runLog) begin(ctx context.Context, lines int64) error {
	_, err := l.db.Exec(ctx, dropLines, l.simulation, lines)
	if err != nil {
		return fmt.Errorf("begin the log: %w", err)
	}
	l.begun = true
	return nil
}

// resume continues the log of an earlier attempt after the given line. It drops the
// pending entries, because the earlier attempt added the same ones.
func (l *runLog) resume(ctx context.Context, lines int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.begin(ctx, lines); err != nil {
		return err
	}
	l.lines, l.pending = lines, l.pending[:0]
	err := l.db.QueryRow(ctx, `SELECT count(*) FROM netsim.simulation_logs WHERE simulation_id = $1`, l.simulation).Scan(&l.kept)
	if err != nil {
		return fmt.Errorf("resume the log: %w", err)
	}
	return nil
}

// append continues the log after the last line of earlier attempts.
func (l *runLog) append(ctx context.Context) error {
	var last int64
	err := l.db.QueryRow(ctx, `SELECT coalesce(max(line), 0) FROM netsim.simulation_logs WHERE simulation_id = $1`, l.simulation).Scan(&last)
	if err != nil {
		return fmt.Errorf("find the end of the log: %w", err)
	}
	return l.resume(ctx, last)
}

// stored returns the number of entries added, and whether all are stored.
func (l *runLog) stored() (lines int64, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines, len(l.pending) == 0
}

// add adds an entry.
func (l *runLog) add(e execution.Entry) { l.addAt(e, l.now()) }

// addAt adds an entry with an earlier time.
func (l *runLog) addAt(e execution.Entry, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines++
	l.pending = append(l.pending, entry{e, l.lines, at})
}

// begins logs the request, the validation and the inputs of the simulation.
func (l *runLog) begins(sim *projections.Simulation, in *execution.Inputs) {
	l.addAt(execution.Entry{Level: execution.Info, Component: service, Message: fmt.Sprintf(
		"simulation %s is requested, for at most %s of simulated time", sim.Name, sim.Duration)}, sim.CreatedAt)
	if sim.Origin == commands.OriginStart {
		l.add(execution.Entry{Level: execution.Info, Component: validator, Message: fmt.Sprintf(
			"version %d of configuration %s is validated, and its inputs are there", sim.ConfigurationVersion, sim.ConfigurationID)})
	}
	in.Describe(l.add)
}

// full reports whether a whole batch is pending.
func (l *runLog) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) >= batchEntries
}

// flush stores the pending entries. It does not stop when ctx ends, because it
// could not know whether an interrupted statement has stored its entries.
func (l *runLog) flush(ctx context.Context) {
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

func (l *runLog) store(ctx context.Context) error {
	lines, at := make([]int64, len(l.pending)), make([]time.Time, len(l.pending))
	levels := make([]int16, len(l.pending))
	components, messages := make([]string, len(l.pending)), make([]string, len(l.pending))
	for i, e := range l.pending {
		lines[i], at[i], levels[i], components[i], messages[i] = e.line, e.at, int16(e.Level), e.Component, e.Message
	}
	var both pgx.Batch // one round trip and one commit
	if !l.begun {
		both.Queue(dropLines, l.simulation, 0)
	}
	both.Queue(`INSERT INTO netsim.simulation_logs (simulation_id, line, logged_at, level, component, message)
		SELECT $1, * FROM unnest($2::bigint[], $3::timestamptz[], $4::smallint[], $5::text[], $6::text[])`,
		l.simulation, lines, at, levels, components, messages)
	if err := l.db.SendBatch(ctx, &both).Close(); err != nil {
		return err
	}
	l.begun = true
	l.kept += int64(len(l.pending))
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
