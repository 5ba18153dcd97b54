package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"netsim/events"
	"netsim/infra/wait"
)

// Before is the schema of the read model that was live before a promotion of one of the same
// form, until it is dropped.
const Before = Live + "_before"

// Step is a step of a promotion.
type Step string

// The steps of a promotion.
const (
	Following Step = "following" // the read model follows the log
	Waiting   Step = "waiting"   // for transactions that could not read across the switch
	Fenced    Step = "fenced"    // nothing is projected into the live read model
	Promoted  Step = "promoted"
)

// Promote makes the read model the live one. The previous one stays: as Before, or, when it
// has another form, in the schema NameOf, where the processes of its release go on serving
// it. It projects until the read model has reached the live one, fences the live one for
// the last records, and switches. A row that was readable before the switch is
// readable after it. Promote calls report at each step, with what the step waits for
// or at which position it is.
//
// The fence ends with its session, also after a crash. Repeating is safe.
func (p *Projector) Promote(ctx context.Context, report func(Step, string)) error {
	if err := p.promotable(ctx); err != nil {
		return err
	}
	if err := p.refuseLosses(ctx); err != nil {
		return err
	}
	lost, err := p.Lost(ctx) // and accepted
	if err != nil {
		return err
	}
	lock, err := p.waitLock(ctx)
	if err != nil {
		return err
	}
	defer lock.release(ctx)
	missing, err := p.MissingIndexes(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s is not complete: run 'netsim readmodel rebuild %s' first", p.Schema, p.Schema)
	}
	if err := p.CatchUp(ctx); err != nil {
		return err
	}
	return p.runWhile(ctx, p.session(), func(ctx context.Context) error {
		for {
			report(Following, "")
			err := p.awaitSnapshots(ctx, snapshotAge, 0, report)
			if err == nil {
				err = p.replaceLive(ctx, lost, report)
			}
			if !errors.Is(err, errNotNow) {
				return err
			}
			report(Waiting, err.Error())
			if err := wait.For(ctx, fenceTimeout); err != nil { // writes get as long as the fence may take
				return err
			}
		}
	})
}

// promotable refuses what cannot be promoted.
func (p *Projector) promotable(ctx context.Context) error {
	if p.isLive() {
		return fmt.Errorf("%s is the live read model", Live)
	}
	exists, err := p.check(ctx, p.Pool)
	if err == nil && !exists {
		err = fmt.Errorf("there is no read model %s", p.Schema)
	}
	if err != nil {
		return err
	}
	kept, err := p.keptAs(ctx, p.Pool)
	if err != nil {
		return err
	}
	for _, taken := range []string{kept, NameOf(p.fingerprint())} {
		if taken == p.Schema {
			continue
		}
		var exists bool
		if err := p.Pool.QueryRow(ctx, schemaExists, taken).Scan(&exists); err != nil {
			return fmt.Errorf("look for %s: %w", taken, err)
		}
		if exists {
			return fmt.Errorf("%s is still there; run 'netsim readmodel drop %[1]s' first", taken)
		}
	}
	return nil
}

// keptAs returns the schema that a promotion moves the live read model to.
func (p *Projector) keptAs(ctx context.Context, db querier) (schema string, err error) {
	var comment string
	err = db.QueryRow(ctx, `SELECT coalesce((SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1), '')`, Live).Scan(&comment)
	if err != nil {
		return "", fmt.Errorf("read the mark of %s: %w", Live, err)
	}
	fingerprint, _ := ReadMark(comment)
	if kept := NameOf(fingerprint); fingerprint != p.fingerprint() && isName(kept) {
		return kept, nil
	}
	return Before, nil
}

const schemaExists = `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)`

// snapshotAge is how old a transaction must be for a promotion to wait for it
// before it fences the live read model.
const snapshotAge = time.Second

// errNotNow ends an attempt to switch. Promote makes another one.
var errNotNow = errors.New("the switch has to wait")

// replaceLive fences the live read model and switches, within fenceTimeout.
func (p *Projector) replaceLive(ctx context.Context, lost []events.LostRecords, report func(Step, string)) error {
	within, cancel := context.WithTimeout(ctx, fenceTimeout)
	defer cancel()
	kept := ""
	err := p.fenced(within, func(tx pgx.Tx, live Position) (err error) {
		report(Fenced, live.String())
		for _, l := range lost { // the rebuilt read model cannot have lost records
			delete(live, partitionKey{events.Family(l.Family), int32(l.Partition)})
		}
		err = poll(within, func() (bool, error) {
			at, err := readPosition(within, p.Pool, p.Schema)
			return at.reaches(live), err
		})
		if err != nil {
			return fmt.Errorf("%s is behind %s: %w", p.Schema, Live, err)
		}
		if _, err := tx.Exec(within, fence(p.Schema)); err != nil {
			return fmt.Errorf("fence %s: %w", p.Schema, err)
		}
		if err := p.awaitSnapshots(within, 0, tx.Conn().PgConn().PID(), report); err != nil {
			return err
		}
		if kept, err = p.keptAs(within, tx); err != nil {
			return err
		}
		// Flushes the earlier commits, which did not wait for the disk.
		const promoting = Live + "_promoting"
		_, err = tx.Exec(within, fmt.Sprintf(
			`SET LOCAL synchronous_commit = on; ALTER SCHEMA %[1]s RENAME TO %[2]s; %[3]s ALTER SCHEMA %[2]s RENAME TO %[4]s`,
			p.ident(), promoting, keepLive(live, kept), Live))
		if err == nil { // the watchers of both look at once
			_, err = tx.Exec(within, `SELECT pg_notify($1, $3), pg_notify($2, $3)`, channel(kept), channel(NameOf(p.fingerprint())), switched)
		}
		return err
	})
	lock, _ := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil:
		report(Promoted, "the previous one is in the schema "+kept)
		return nil
	case ctx.Err() == nil && within.Err() != nil, lock != nil && lock.Code == lockNotAvailable:
		return fmt.Errorf("%w: %w", errNotNow, err)
	}
	return fmt.Errorf("promote %s: %w", p.Schema, err)
}

// session returns the function that projects: it shares the shards of a read model that
// other processes project too.
func (p *Projector) session() func(context.Context) error {
	if p.Leases != nil {
		return p.projectLeased
	}
	return p.project
}

// keepLive returns the statement that renames the live read model, when there is one.
func keepLive(live Position, kept string) string {
	if live == nil {
		return ""
	}
	return fmt.Sprintf("ALTER SCHEMA %s RENAME TO %s;", Live, kept)
}
