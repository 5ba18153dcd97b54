package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/internal/wait"
)

// turn is the right to project into a schema, held as an advisory lock by a
// session: it ends with its holder, however that ends. It saves work; what is
// written is safe without it.
type turn struct {
	conn *pgxpool.Conn
	name string
}

// errYield ends a session for a process that waits for its turn.
var errYield = errors.New("another process waits for its turn")

// errNoTurn says that another process projects into the schema.
var errNoTurn = errors.New("another process projects into it")

func (p *Projector) turnName() string { return "project " + p.Schema }

// tryTurn takes the turn, or returns errNoTurn.
func (p *Projector) tryTurn(ctx context.Context) (*turn, error) {
	return p.takeTurn(ctx, func(conn *pgxpool.Conn, name string) error {
		var held bool
		err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtext($1))", name).Scan(&held)
		if err == nil && !held {
			err = errNoTurn
		}
		return err
	})
}

// pollTurn takes the turn as soon as it is free. It is not seen as waiting.
func (p *Projector) pollTurn(ctx context.Context) (*turn, error) {
	for {
		t, err := p.tryTurn(ctx)
		if !errors.Is(err, errNoTurn) {
			return t, err
		}
		if err := wait.For(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// turnTimeout bounds how long a holder takes to step aside.
const turnTimeout = time.Minute

// waitTurn queues for the turn: a holder that yields sees it and steps aside.
func (p *Projector) waitTurn(ctx context.Context) (*turn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, turnTimeout, errNoTurn)
	defer cancel()
	return p.takeTurn(ctx, func(conn *pgxpool.Conn, name string) error {
		_, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", name)
		if errors.Is(context.Cause(ctx), errNoTurn) {
			return errNoTurn
		}
		return err
	})
}

func (p *Projector) takeTurn(ctx context.Context, lock func(conn *pgxpool.Conn, name string) error) (*turn, error) {
	conn, err := p.Pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	t := &turn{conn, p.turnName()}
	if err := lock(conn, t.name); err != nil {
		conn.Release()
		return nil, fmt.Errorf("take the turn to project into %s: %w", p.Schema, err)
	}
	return t, nil
}

func (t *turn) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if _, err := t.conn.Exec(ctx, "SELECT pg_advisory_unlock(hashtext($1))", t.name); err != nil {
		_ = t.conn.Conn().Close(ctx) // the session's end releases it
	}
	t.conn.Release()
}

// wanted reports whether a process waits for the turn.
func (p *Projector) wanted(ctx context.Context) (waits bool) {
	err := p.Pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND objid = (hashtext($1)::bigint & 4294967295)::oid)`, p.turnName()).Scan(&waits)
	return err == nil && waits
}
