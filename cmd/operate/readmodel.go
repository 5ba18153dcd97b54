package operate

import (
	"context"
	"time"

	"netsim/cmd/connections"
	"netsim/infra/facts"
	"netsim/infra/postgres"
	"netsim/infra/projector"
)

// progressEvery is the interval between two reports of a rebuild.
const progressEvery = 5 * time.Second

// Rebuild replays the log into a read model beside the live one. With follow it continues
// until the read model is promoted or ctx ends. It refuses a log that has lost records
// unless acceptLoss gives a reason. It calls report every few seconds and at the end.
func (t *Tools) Rebuild(ctx context.Context, schema string, follow bool, acceptLoss string, report func(projector.Report)) (promoted bool, err error) {
	err = t.readModel(ctx, schema, func(p *projector.Projector) error {
		if err := t.acceptLoss(ctx, p, acceptLoss); err != nil {
			return err
		}
		progress, end := context.WithCancel(ctx)
		reported := make(chan struct{})
		go func() {
			defer close(reported)
			every := time.NewTicker(progressEvery)
			defer every.Stop()
			for progress.Err() == nil {
				select {
				case <-progress.Done():
				case <-every.C:
				}
				report(p.Report())
			}
		}()
		promoted, err = p.Rebuild(ctx, follow)
		end()
		<-reported
		return err
	})
	return promoted, err
}

// Diff compares a read model with the live one.
func (t *Tools) Diff(ctx context.Context, schema string) (c projector.Comparison, err error) {
	err = t.readModel(ctx, schema, func(p *projector.Projector) error {
		c, err = p.Diff(ctx)
		return err
	})
	return c, err
}

// DiffWith compares a read model with the live one of the database at the address.
func (t *Tools) DiffWith(ctx context.Context, schema, database string) (c projector.Comparison, err error) {
	other, err := postgres.Open(ctx, database, projector.Live, 2, t.conn.Named())
	if err != nil {
		return c, err
	}
	defer other.Close()
	err = t.readModel(ctx, schema, func(p *projector.Projector) error {
		c, err = p.DiffWith(ctx, other)
		return err
	})
	return c, err
}

// Digest returns the digest of a read model, at a position unless that is nil.
func (t *Tools) Digest(ctx context.Context, schema string, at projector.Position, ranges int) (d projector.Digest, err error) {
	err = t.readModel(ctx, schema, func(p *projector.Projector) error {
		d, err = p.Digest(ctx, at, ranges)
		return err
	})
	return d, err
}

// Promote replaces the live read model with the schema. It calls report at each step. If the
// log lacks records that the former one had seen, it returns what that means for others.
func (t *Tools) Promote(ctx context.Context, schema string, report func(projector.Step, string)) (after []string, err error) {
	err = t.readModel(ctx, schema, func(p *projector.Projector) error {
		lost, err := p.Lost(ctx)
		if err != nil {
			return err
		}
		if err := p.Promote(ctx, report); err != nil || len(lost) == 0 {
			return err
		}
		after = t.afterLoss(ctx)
		return nil
	})
	return after, err
}

// Drop removes a read model that is not the live one.
func (t *Tools) Drop(ctx context.Context, schema string) error {
	return t.readModel(ctx, schema, func(p *projector.Projector) error { return p.Drop(ctx) })
}

// readModel runs use with a projector for the schema.
func (t *Tools) readModel(ctx context.Context, schema string, use func(*projector.Projector) error) error {
	pool, err := postgres.Open(ctx, t.conn.Config.Postgres, schema, 8, t.conn.Named())
	if err != nil {
		return err
	}
	defer pool.Close()
	c := t.conn.ProjectorConfig(pool, schema)
	if schema == projector.NameOf(connections.Fingerprint()) { // the processes of this release project it
		log, err := t.conn.EventLog.Describe(ctx)
		if err != nil {
			return err
		}
		c.Leases = &facts.Leases{Pool: pool, Subscriber: schema, Process: t.conn.Process, Shards: connections.Shards(log), Log: t.conn.Log}
	}
	return use(projector.New(c))
}
