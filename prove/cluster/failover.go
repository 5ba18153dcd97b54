package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/wait"
)

// MakeStandby makes the second server a standby of the primary.
func (c *Cluster) MakeStandby(ctx context.Context) error {
	c.postgres[1].Kill()
	if err := c.postgres[1].follow(ctx, c.postgres[0], c.linkToDB["standby"]); err != nil {
		return fmt.Errorf("make the standby: %w", err)
	}
	c.standby = true
	return nil
}

// CutStandby cuts the standby's connection to the primary, so that it lacks what is
// committed from now on.
func (c *Cluster) CutStandby() error {
	for _, l := range c.links.to("postgres") {
		if l.From == "standby" {
			return l.Disturb(Cut)
		}
	}
	return errors.New("there is no link to the standby")
}

// Failover kills the primary, promotes the standby with what it has, and redirects
// every link to it. It returns how many bytes of the write-ahead log the new primary
// lacks, as far as the old one had inserted them when it was last asked. The old
// primary's data is deleted; MakeStandby makes another standby.
func (c *Cluster) Failover(ctx context.Context) (lacks int64, err error) {
	if !c.standby {
		return 0, errors.New("there is no standby")
	}
	old, next := c.postgres[0], c.postgres[1]
	end, err := position(ctx, old, "pg_current_wal_insert_lsn()")
	if err != nil {
		return 0, err
	}
	old.Kill()
	c.standby = false
	have, err := position(ctx, next, "pg_last_wal_receive_lsn()")
	if err != nil {
		return 0, err
	}
	if err := next.exec(ctx, "postgres", "SELECT pg_promote()"); err != nil {
		return 0, fmt.Errorf("promote the standby: %w", err)
	}
	c.postgres = [2]*Postgres{next, old}
	if err := os.RemoveAll(old.data()); err != nil {
		return 0, err
	}
	for _, l := range c.links.to("postgres") {
		if err := l.redirect(next.address); err != nil {
			return 0, err
		}
	}
	for deadline := time.Now().Add(slowest); ; {
		var standby bool
		err := next.query(ctx, "SELECT pg_is_in_recovery()", &standby)
		if err == nil && !standby {
			return max(0, end-have), nil
		}
		if time.Now().After(deadline) {
			return 0, errors.Join(errors.New("the standby was not promoted"), err)
		}
		if err := wait.For(ctx, 20*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// position asks a server for a position of the write-ahead log, in bytes.
func position(ctx context.Context, p *Postgres, function string) (at int64, err error) {
	return at, p.query(ctx, "SELECT coalesce("+function+" - '0/0', 0)::bigint", &at)
}

func (p *Postgres) query(ctx context.Context, sql string, into any) error {
	conn, err := pgx.Connect(ctx, p.URL())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the query has been answered
	return conn.QueryRow(ctx, sql).Scan(into)
}

// Query scans the only row of a query on the primary, directly and not through a link.
func (c *Cluster) Query(ctx context.Context, sql string, into any) error {
	return c.Primary().query(ctx, sql, into)
}
