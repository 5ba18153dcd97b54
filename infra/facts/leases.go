package facts

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Leases shares the shards of a subscriber among processes. Every process that
// calls Run is a member; each member gets an equal part of the shards, give or
// take one. A lease is renewed three times in its TTL. When a member dies, the
// others have its shards after at most the TTL and a third of it; when it ends in
// an orderly way, after a third.
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
// Work's context also ends shortly before a lease can be another process's. That
// saves work. It is not what safety rests on, because a process can be suspended
// at any point: what work writes must be refused once another process has written
// with a larger epoch.
//
// When work returns an error, Run returns it.
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
			expired.Stop()
			if err := s.err; ctx.Err() == nil {
				return err
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
	kept, part, err := l.renew(renewing, s.held)
	if err != nil {
		return err
	}
	changed := len(kept) < len(s.held)
	if len(kept) > part {
		changed = true
		s.stop()
		if err := l.release(ctx, kept[part:]); err != nil {
			return err
		}
		kept = kept[:part]
	}
	gained, err := l.acquire(ctx, part-len(kept))
	if err != nil {
		return err
	}
	if changed || len(gained) > 0 {
		s.stop()
		s.held = append(kept, gained...)
		slices.SortFunc(s.held, func(a, b Lease) int { return cmp.Compare(a.Shard, b.Shard) })
		l.Log.InfoContext(ctx, "the shards of this process have changed", "subscriber", l.Subscriber, "shards", shardsOf(s.held))
	}
	s.start(ctx)
	return nil
}

// within bounds a statement, so that work ends in time when PostgreSQL does not
// answer.
func (l *Leases) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, l.ttl()/3)
}

// renew extends this process's membership and leases. It returns the leases that
// it still has and how many are its part.
func (l *Leases) renew(ctx context.Context, held []Lease) (kept []Lease, part int, err error) {
	var epochs, renewed []int64
	for _, lease := range held {
		epochs = append(epochs, lease.Epoch)
	}
	ctx, cancel := l.within(ctx)
	defer cancel()
	var members []string
	err = l.Pool.QueryRow(ctx, `
		WITH me AS (
			INSERT INTO shard_members VALUES ($1, $2, now() + $3)
			ON CONFLICT (subscriber, process) DO UPDATE SET expires_at = excluded.expires_at
		), gone AS (
			DELETE FROM shard_members WHERE subscriber = $1 AND process <> $2 AND expires_at < now()
		), kept AS (
			UPDATE shard_leases SET expires_at = now() + $3
			WHERE subscriber = $1 AND holder = $2 AND epoch = ANY($4)
			RETURNING epoch
		)
		SELECT (SELECT coalesce(array_agg(epoch), '{}') FROM kept),
			(SELECT coalesce(array_agg(process), '{}') FROM shard_members WHERE subscriber = $1 AND process <> $2 AND expires_at >= now())`,
		l.Subscriber, l.Process, l.ttl(), epochs).Scan(&renewed, &members)
	if err != nil {
		return nil, 0, fmt.Errorf("renew the leases: %w", err)
	}
	for _, lease := range held {
		if slices.Contains(renewed, lease.Epoch) {
			kept = append(kept, lease)
		}
	}
	return kept, l.partOf(members), nil
}

// partOf returns how many shards are the part of this process beside the others.
// The first in the order of names get one more when the shards do not divide.
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

// acquire takes up to so many shards that no process holds.
func (l *Leases) acquire(ctx context.Context, most int) ([]Lease, error) {
	if most <= 0 {
		return nil, nil
	}
	ctx, cancel := l.within(ctx)
	defer cancel()
	rows, err := l.Pool.Query(ctx, `
		INSERT INTO shard_leases AS lease
		SELECT $1, free.shard, $2, nextval('shard_epochs'), now() + $3
		FROM (SELECT shard FROM generate_series(0, $4 - 1) AS shard
			WHERE NOT EXISTS (SELECT FROM shard_leases t WHERE t.subscriber = $1 AND t.shard = shard.shard AND t.expires_at >= now())
			ORDER BY shard LIMIT $5) AS free
		ON CONFLICT (subscriber, shard) DO UPDATE
		SET holder = excluded.holder, epoch = excluded.epoch, expires_at = excluded.expires_at
		WHERE lease.expires_at < now()
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
func (l *Leases) release(ctx context.Context, some []Lease) error {
	var epochs []int64
	for _, lease := range some {
		epochs = append(epochs, lease.Epoch)
	}
	ctx, cancel := l.within(ctx)
	defer cancel()
	_, err := l.Pool.Exec(ctx, `
		UPDATE shard_leases SET expires_at = '-infinity' WHERE subscriber = $1 AND holder = $2 AND epoch = ANY($3)`,
		l.Subscriber, l.Process, epochs)
	if err != nil {
		return fmt.Errorf("release shards: %w", err)
	}
	return nil
}

// leave ends the work and the membership.
func (l *Leases) leave(ctx context.Context, s *session) {
	s.stop()
	ctx, cancel := l.within(context.WithoutCancel(ctx))
	defer cancel()
	err := l.release(ctx, s.held)
	if err == nil {
		_, err = l.Pool.Exec(ctx, `DELETE FROM shard_members WHERE subscriber = $1 AND process = $2`, l.Subscriber, l.Process)
	}
	if err != nil {
		l.Log.WarnContext(ctx, "the leases of shards expire, they could not be released", "subscriber", l.Subscriber, "error", err)
	}
}

func shardsOf(held []Lease) []int32 {
	shards := []int32{}
	for _, lease := range held {
		shards = append(shards, lease.Shard)
	}
	return shards
}

// session is the work on the leases that this process holds.
type session struct {
	work       func(ctx context.Context, held []Lease) error
	held       []Lease
	validUntil time.Time // when the work must have ended unless the leases were renewed

	cancel context.CancelFunc
	ended  chan struct{} // closed when the work has returned; nil when none runs
	err    error         // that it returned
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
