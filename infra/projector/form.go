package projector

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrOtherForm is wrapped by the error of a read model that a release with
// other projections made.
var ErrOtherForm = errors.New("the read model was made by another release")

// form names what the read model looks like: a digest of the statements that
// make it, comments included.
func (p *Projector) form() string {
	sum := sha256.Sum256([]byte(p.statements()))
	return fmt.Sprintf("form %x", sum[:8])
}

// Check refuses a read model of another form. One that is not there is none.
func (p *Projector) Check(ctx context.Context) error {
	_, err := p.check(ctx, p.Pool)
	return err
}

// Exists reports whether the read model's tables are there, and refuses those of
// another form.
func (p *Projector) Exists(ctx context.Context) (bool, error) { return p.check(ctx, p.Pool) }

// Watch returns an error once the read model is of another form, and nil when
// ctx ends. It is for processes that read what another one projects.
func (p *Projector) Watch(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if err := p.Check(ctx); errors.Is(err, ErrOtherForm) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// check reports whether the read model is there, and refuses another form.
func (p *Projector) check(ctx context.Context, db querier) (exists bool, err error) {
	var found string
	err = db.QueryRow(ctx, `SELECT coalesce(obj_description(oid, 'pg_namespace'), 'no known form') FROM pg_namespace WHERE nspname = $1`,
		p.Schema).Scan(&found)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for the read model: %w", err)
	case found != p.form():
		return true, fmt.Errorf("%w: schema %s has %s, this release needs %s; run 'netsim readmodel rebuild next' and 'netsim readmodel promote next'",
			ErrOtherForm, p.Schema, found, p.form())
	}
	return true, nil
}
