package facts

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/sqlstate"
)

// Leases shares the shards of a subscriber among processes. Every process that
// calls Run is a member; each member gets an equal part of the shards, give or
// take one. A lease is renewed three times in its TTL. When a member ends, in an
// orderly way or not, its database session ends too, and the others have its
// shards within a third of the TTL. When its machine is lost or suspended, that takes
// up to the TTL and a third.
type Leases struct {
	Pool       *pgxpool.Pool
	Subscriber string        // names what the facts are read for, such as a read model's schema
	Process    string        // names this process; no other process may have the name
	Shards     int32         // how many there are
	TTL        time.Duration // of a lease; 0 is DefaultTTL
	Log        *slog.Logger
}

// DefaultTTL is how long a lease is valid without a renewal.
const DefaultTTL = 3 * time.Second

// Run calls work with the leases that this process holds, until ctx ends. When
// they change, work's context ends; once work has returned, it is called with the
// new leases. Work is not called while there are none.
//
// Work's context also ends shortly before another process can acquire a lease that
// was not renewed. That saves work. Safety cannot rest on it, because a process can be
// suspended at any point: what work writes must be refused once the lease has a larger
// epoch.
//
// When work returns before its context ends, Run returns its error.
func (l *Leases) Run(ctx context.Context, work func(ctx context.Context, held []Lease) error) error {
	s := session{work: work}
	defer l.leave(ctx, &s)
	tick := time.NewTicker(l.ttl() / 3)
	defer tick.Stop()
	for {
		began := time.Now()
		if err := l.balance(ctx, &s); err == nil {
			s.validUntil = began.Add(l.ttl() * 9 / 10)
		} else if ctx.Err() == nil {
			l.Log.WarnContext(ctx, "the leases of shards could not be renewed", "subscriber", l.Subscriber, "error", err)
		}
		expired := time.NewTimer(time.Until(s.validUntil))
		select {
		case <-tick.C:
		case <-expired.C: // the next renewal finds out which leases are left
			s.stop()
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		case <-s.ended:
			if ctx.Err() == nil {
				expired.Stop()
				return s.err
			}
		case <-ctx.Done():
		}
		expired.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

func (l *Leases) ttl() time.Duration { return cmp.Or(l.TTL, DefaultTTL) }

// balance renews the leases, releases those beyond this process's part, acquires
// free ones up to it, and restarts the work when they have changed.
func (l *Leases) balance(ctx context.Context, s *session) error {
	renewing := ctx
	if s.ended != nil {
		var cancel context.CancelFunc
		renewing, cancel = context.WithDeadline(ctx, s.validUntil)
		defer cancel()
	}
	if err := s.connect(renewing, l.Pool); err != nil {
		return err
	}
	kept, part, err := l.renew(renewing, s)
	if sqlstate.IsMissing(err) {
		if err = l.create(ctx); err == nil {
			kept, part, err = l.renew(renewing, s)
		}
	}
	if err != nil {
		return err
	}
	changed := len(kept) < len(s.held)
	if len(kept) > part {
		changed = true
		s.stop()
		if err := l.release(ctx, s, kept[part:]); err != nil {
			return err
		}
		kept = kept[:part]
	}
	gained, err := l.acquire(ctx, s, part-len(kept))
	if err != nil {
		return err
	}
	if changed || len(gained) > 0 {
		s.stop()
		s.held = append(kept, gained...)
		slices.SortFunc(s.held, func(a, b Lease) int { return cmp.Compare(a.Shard, b.Shard) })
		l.Log.InfoContext(ctx, "the shards of this process have changed", "subscriber", l.Subscriber, "shards", len(s.held))
	}
	s.start(ctx)
	return nil
}

//go:embed leases.sql
var leasesSQL string

// create makes the tables when they are missing, also in a database that was lost
// under the running service: the read model is rebuilt only by holders of leases. No
// migration makes the tables, because they hold nothing that must be kept.
//
// Tables that exist are not created again, because that needs more rights than reading.
func (l *Leases) create(ctx context.Context) error {
	ctx, cancel := l.within(ctx)
	defer cancel()
	var exists bool
	err := l.Pool.QueryRow(ctx, `SELECT to_regclass('facts.leases') IS NOT NULL AND to_regclass('facts.members') IS NOT NULL`).Scan(&exists)
	if err != nil {
		return fmt.Errorf("look for the tables of leases: %w", err)
	}
	if exists {
		return nil
	}
	return pgx.BeginFunc(ctx, l.Pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('create schema facts'))")
		if err == nil {
			_, err = tx.Exec(ctx, leasesSQL)
		}
		if err != nil {
			return fmt.Errorf("create the tables of leases: %w", err)
		}
		return nil
	})
}

// Create makes the tables unless they exist. Run does it too.
func (l *Leases) Create(ctx context.Context) error { return l.create(ctx) }

// within bounds a statement, so that work ends in time when PostgreSQL does not
// answer.
func (l *Leases) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, l.ttl()/3)
}

// renew extends this process's membership and leases. It returns the leases that
// it still has and how many are its part.
func (l *Leases) renew(ctx context.Context, s *session) (kept []Lease, part int, err error) {
	shards, epochs := columnsOf(s.held)
	var renewed []int32
	ctx, cancel := l.within(ctx)
	defer cancel()
	var members []string
	err = s.conn.QueryRow(ctx, `
		WITH me AS (
			INSERT INTO facts.members VALUES ($1, $2, pg_backend_pid(), now() + $3)
			ON CONFLICT (subscriber, process) DO UPDATE SET backend = excluded.backend, expires_at = excluded.expires_at
		), others AS (
			SELECT process, expires_at >= now() AND EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = backend) AS alive
			FROM facts.members WHERE subscriber = $1 AND process <> $2
		), gone AS (
			DELETE FROM facts.members m USING others o WHERE m.subscriber = $1 AND m.process = o.process AND NOT o.alive
		), kept AS (
			UPDATE facts.leases l SET expires_at = now() + $3 FROM unnest($4::int[], $5::bigint[]) AS held (shard, epoch)
			WHERE l.subscriber = $1 AND l.holder = $2 AND l.shard = held.shard AND l.epoch = held.epoch
			RETURNING l.shard
		)
		SELECT (SELECT coalesce(array_agg(shard), '{}') FROM kept),
			(SELECT coalesce(array_agg(process), '{}') FROM others WHERE alive)`,
		l.Subscriber, l.Process, l.ttl(), shards, epochs).Scan(&renewed, &members)
	if err != nil {
		return nil, 0, fmt.Errorf("renew the leases: %w", err)
	}
	for _, lease := range s.held {
		if slices.Contains(renewed, lease.Shard) {
			kept = append(kept, lease)
		}
	}
	return kept, l.partOf(members), nil
}

// partOf returns how many shards are the part of this process beside the others.
// When the shards do not divide evenly, the first processes in the order of names get
// one more.
func (l *Leases) partOf(others []string) int {
	members := len(others) + 1
	before := 0
	for _, name := range others {
		if name < l.Process {
			before++
		}
	}
	part := int(l.Shards) / members
	if before < int(l.Shards)%members {
		part++
	}
	return part
}

// acquire acquires at most so many of the shards that no process holds.
func (l *Leases) acquire(ctx context.Context, s *session, most int) ([]Lease, error) {
	if most <= 0 {
		return nil, nil
	}
	ctx, cancel := l.within(ctx)
	defer cancel()
	rows, err := s.conn.Query(ctx, `
		INSERT INTO facts.leases AS lease
		SELECT $1, free.shard, $2, (extract(epoch FROM clock_timestamp()) * 1e6)::bigint, now() + $3
		FROM (SELECT shard FROM generate_series(0, $4 - 1) AS shard
			WHERE NOT EXISTS (
				SELECT FROM facts.leases t JOIN facts.members m ON m.subscriber = t.subscriber AND m.process = t.holder
				WHERE t.subscriber = $1 AND t.shard = shard.shard AND t.expires_at >= now())
			ORDER BY shard LIMIT $5) AS free
		ON CONFLICT (subscriber, shard) DO UPDATE
		SET holder = excluded.holder, epoch = greatest(excluded.epoch, lease.epoch + 1), expires_at = excluded.expires_at
		WHERE lease.expires_at < now()
			OR NOT EXISTS (SELECT FROM facts.members m WHERE m.subscriber = lease.subscriber AND m.process = lease.holder)
		RETURNING shard, epoch`, l.Subscriber, l.Process, l.ttl(), l.Shards, most)
	if err != nil {
		return nil, fmt.Errorf("acquire shards: %w", err)
	}
	gained, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Lease])
	if err != nil {
		return nil, fmt.Errorf("acquire shards: %w", err)
	}
	return gained, nil
}

// release makes leases free at once.
func (l *Leases) release(ctx context.Context, s *session, some []Lease) error {
	shards, epochs := columnsOf(some)
	ctx, cancel := l.within(ctx)
	defer cancel()
	_, err := s.conn.Exec(ctx, `
		UPDATE facts.leases l SET holder = '', expires_at = '-infinity' FROM unnest($3::int[], $4::bigint[]) AS held (shard, epoch)
		WHERE l.subscriber = $1 AND l.holder = $2 AND l.shard = held.shard AND l.epoch = held.epoch`,
		l.Subscriber, l.Process, shards, epochs)
	if err != nil {
		return fmt.Errorf("release shards: %w", err)
	}
	return nil
}

// Holders lists the processes that hold shards of a subscriber, with their shards;
// "" when there are none.
func Holders(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, subscriber string) (list string, err error) {
	err = db.QueryRow(ctx, `
		SELECT coalesce(string_agg(format('%s (%s)', holder, shards), ', ' ORDER BY holder), '')
		FROM (SELECT holder, string_agg(shard::text, ' ' ORDER BY shard) AS shards FROM facts.leases
			WHERE subscriber = $1 AND expires_at > now() GROUP BY holder) AS held`, subscriber).Scan(&list)
	if err != nil && !sqlstate.IsMissing(err) {
		return "", fmt.Errorf("list the holders of shards: %w", err)
	}
	return list, nil
}

// Forget deletes the leases and the members of a subscriber that is gone.
func Forget(ctx context.Context, tx pgx.Tx, subscriber string) error {
	var exists bool
	if err := tx.QueryRow(ctx, `SELECT to_regclass('facts.leases') IS NOT NULL AND to_regclass('facts.members') IS NOT NULL`).Scan(&exists); err != nil || !exists {
		return err
	}
	_, err := tx.Exec(ctx, `WITH leases AS (DELETE FROM facts.leases WHERE subscriber = $1) DELETE FROM facts.members WHERE subscriber = $1`, subscriber)
	if err != nil {
		return fmt.Errorf("delete the leases of %s: %w", subscriber, err)
	}
	return nil
}

// leave ends the work and the membership.
func (l *Leases) leave(ctx context.Context, s *session) {
	s.stop()
	ctx, cancel := l.within(context.WithoutCancel(ctx))
	defer cancel()
	err := s.connect(ctx, l.Pool)
	if err == nil {
		err = l.release(ctx, s, s.held)
	}
	if err == nil {
		_, err = s.conn.Exec(ctx, `DELETE FROM facts.members WHERE subscriber = $1 AND process = $2`, l.Subscriber, l.Process)
	}
	if s.conn != nil {
		s.conn.Release()
	}
	if err != nil {
		l.Log.WarnContext(ctx, "the leases of shards expire, they could not be released", "subscriber", l.Subscriber, "error", err)
	}
}

// columnsOf returns the shards and the epochs of leases.
func columnsOf(leases []Lease) (shards []int32, epochs []int64) {
	for _, lease := range leases {
		shards, epochs = append(shards, lease.Shard), append(epochs, lease.Epoch)
	}
	return shards, epochs
}

// session is the work on the leases that this process holds.
type session struct {
	work       func(ctx context.Context, held []Lease) error
	held       []Lease
	conn       *pgxpool.Conn // whose end shows the other members that this process is gone
	validUntil time.Time     // when the work must have ended unless the leases were renewed

	cancel context.CancelFunc
	ended  chan struct{} // closed when the work has returned; nil when none runs
	err    error         // that it returned
}

// connect opens the database session unless it is open.
func (s *session) connect(ctx context.Context, pool *pgxpool.Pool) (err error) {
	if s.conn != nil && s.conn.Conn().IsClosed() {
		s.conn.Release()
		s.conn = nil
	}
	if s.conn == nil {
		if s.conn, err = pool.Acquire(ctx); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	return nil
}

// start calls the work unless it runs or no lease is held.
func (s *session) start(ctx context.Context) {
	if s.ended != nil || len(s.held) == 0 {
		return
	}
	ctx, s.cancel = context.WithCancel(ctx)
	ended, held := make(chan struct{}), s.held
	s.ended = ended
	go func() {
		defer close(ended)
		s.err = s.work(ctx, held)
	}()
}

// stop ends the work and waits for it.
func (s *session) stop() {
	if s.ended == nil {
		return
	}
	s.cancel()
	<-s.ended
	s.ended = nil
}
