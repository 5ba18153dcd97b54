package projector

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// audience is what a Watcher knows about the watchers of other processes. A
// projector notifies only when there are any, because notifications serialise the
// commits of all sessions of the database.
type audience struct {
	mu    sync.Mutex
	none  bool   // no other process listens
	joins int    // announcements so far
	self  uint32 // process id of this watcher's session; 0 while it does not listen
}

// announcement is the payload by which a watcher says that it listens.
const announcement = "listening"

// listenerName is the application_name of the sessions that listen for a read model.
func listenerName(name string) string { return listeners + name }

const listeners = "netsim listens to "

// announce makes the connection listen to what is said of the read model with the name, and
// says so to the other processes. own is true for the one that this process serves.
func (w *Watcher) announce(ctx context.Context, conn *pgx.Conn, model string, own bool) error {
	w.others.setSelf(conn.PgConn().PID())
	name := channel(model)
	if own {
		if _, err := conn.Exec(ctx, "SELECT set_config('application_name', $1, false)", listenerName(model)); err != nil {
			return fmt.Errorf("name the listening session: %w", err)
		}
	}
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{name}.Sanitize()); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if _, err := conn.Exec(ctx, "SELECT pg_notify($1, $2)", name, announcement); err != nil {
		return fmt.Errorf("announce the listener: %w", err)
	}
	return nil
}

// isHeardElsewhere reports whether another process may listen. A nil Watcher does not
// know, so it says yes.
func (w *Watcher) isHeardElsewhere() bool {
	if w == nil {
		return true
	}
	w.others.mu.Lock()
	defer w.others.mu.Unlock()
	return !w.others.none
}

func (a *audience) setSelf(pid uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.self = pid
}

// joined notes that another process has announced itself.
func (a *audience) joined() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.none = false
	a.joins++
}

// countOthers queues the question whether another process listens, and returns a function
// that notes the answer, or that there is none. A process that ends is noticed here; one that
// begins announces itself. A nil Watcher asks nothing.
func (w *Watcher) countOthers(reads *pgx.Batch) (note func(err error)) {
	if w == nil {
		return func(error) {}
	}
	w.others.mu.Lock()
	joins, self := w.others.joins, w.others.self
	w.others.mu.Unlock()
	any := true
	reads.Queue(`SELECT EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = current_database() AND starts_with(application_name, $1) AND pid <> $2)`, listeners, int64(self)).QueryRow(
		func(row pgx.Row) error { return row.Scan(&any) })
	return func(err error) {
		w.others.mu.Lock()
		defer w.others.mu.Unlock()
		w.others.none = err == nil && !any && w.others.joins == joins
	}
}
