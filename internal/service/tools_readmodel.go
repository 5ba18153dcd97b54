package service

import (
	"context"
	"time"

	"netsim/infra/postgres"
	"netsim/infra/projector"
)

// progressEvery is how often a rebuild says how far it is.
const progressEvery = 5 * time.Second

// Rebuild replays the log into a read model beside the live one, and follows
// the log until that is promoted or ctx ends, if it is to follow. A log that
// lost records is refused, unless a reason to accept that is given. tell is
// called every few seconds, and at the end.
func (t *Tools) Rebuild(ctx context.Context, schema string, follow bool, acceptLoss string, tell func(projector.Report)) (promoted bool, err error) {
	err = t.readModel(ctx, schema, func(p *projector.Projector) error {
		if err := t.core.acceptLoss(ctx, p, acceptLoss); err != nil {
			return err
		}
		progress, end := context.WithCancel(ctx)
		told := make(chan struct{})
		go func() {
			defer close(told)
			every := time.NewTicker(progressEvery)
			defer every.Stop()
			for progress.Err() == nil {
				select {
				case <-progress.Done():
				case <-every.C:
				}
				tell(p.Report())
			}
		}()
		promoted, err = p.Rebuild(ctx, follow)
		end()
		<-told
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

// Promote puts a read model in the place of the live one. tell is called at
// each step.
func (t *Tools) Promote(ctx context.Context, schema string, tell func(projector.Step, string)) error {
	return t.readModel(ctx, schema, func(p *projector.Projector) error { return p.Promote(ctx, tell) })
}

// Drop removes a read model that is not the live one.
func (t *Tools) Drop(ctx context.Context, schema string) error {
	return t.readModel(ctx, schema, func(p *projector.Projector) error { return p.Drop(ctx) })
}

// readModel lends a projector of the schema.
func (t *Tools) readModel(ctx context.Context, schema string, use func(*projector.Projector) error) error {
	pool, err := postgres.Open(ctx, t.core.config.Postgres, schema, 8)
	if err != nil {
		return err
	}
	defer pool.Close()
	return use(projector.New(t.core.projectorConfig(pool, schema)))
}
