package projector

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// fenceTimeout bounds how long a fence delays writes. It is well below the time
// that a request waits for its verdict.
const fenceTimeout = 3 * time.Second

// fence is the statement that blocks every projector of a read model until the
// transaction ends, because each batch updates the offsets. Reads are not
// blocked.
func fence(schema string) string {
	return "LOCK TABLE " + pgx.Identifier{schema}.Sanitize() + ".offsets IN EXCLUSIVE MODE"
}

// lockNotAvailable is PostgreSQL's code of a lock timeout.
const lockNotAvailable = "55P03"

// fenced fences the live read model while f runs, and commits the transaction. f
// gets the position of the live read model, nil when there is none. PostgreSQL
// ends the fence of a holder that hangs.
func (p *Projector) fenced(ctx context.Context, f func(tx pgx.Tx, live Position) error) error {
	return pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf(`
			SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = %[1]d; SET LOCAL idle_in_transaction_session_timeout = %[1]d`,
			fenceTimeout.Milliseconds()))
		if err != nil {
			return fmt.Errorf("bound the fence: %w", err)
		}
		var exists bool
		if err := tx.QueryRow(ctx, schemaExists, Live).Scan(&exists); err != nil {
			return fmt.Errorf("look for %s: %w", Live, err)
		}
		if !exists {
			return f(tx, nil)
		}
		if _, err := tx.Exec(ctx, fence(Live)); err != nil {
			return fmt.Errorf("fence %s: %w", Live, err)
		}
		live, err := readPosition(ctx, tx, Live)
		if err != nil {
			return err
		}
		return f(tx, live)
	})
}

// awaitSnapshots waits for the end of every transaction that has a snapshot and, at
// this call, is older than the duration. After the switch, such a transaction would
// read the new read model as of its snapshot, when rows were still missing.
// Transactions that the holder of the fence blocks do not count.
func (p *Projector) awaitSnapshots(ctx context.Context, older time.Duration, holder uint32, report func(Step, string)) error {
	began, err := p.databaseTime(ctx)
	if err != nil {
		return err
	}
	reported := ""
	return poll(ctx, func() (bool, error) {
		in, err := p.olderTransaction(ctx, began.Add(-older), holder)
		if err != nil {
			return false, err
		}
		if in != "" && in != reported {
			report(Waiting, "a transaction of "+in+" is still reading")
			reported = in
		}
		return in == "", nil
	})
}

func (p *Projector) databaseTime(ctx context.Context) (now time.Time, err error) {
	if err := p.Pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return now, fmt.Errorf("ask for the database's time: %w", err)
	}
	return now, nil
}

// olderTransaction names a transaction that reads from a snapshot and began
// before the time, unless the holder blocks it; "" for none.
func (p *Projector) olderTransaction(ctx context.Context, before time.Time, holder uint32) (name string, err error) {
	err = p.Pool.QueryRow(ctx, `
		SELECT coalesce(min(format('%s (process %s, since %s)', application_name, pid, xact_start)), '') FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
			AND backend_xmin IS NOT NULL AND xact_start < $1 AND NOT $2 = ANY(pg_blocking_pids(pid))`, before, int64(holder)).Scan(&name)
	if err != nil {
		return "", fmt.Errorf("look for older transactions: %w", err)
	}
	return name, nil
}
