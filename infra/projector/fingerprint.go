package projector

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrOtherSchema is wrapped by the error about a read model that a release with
// other tables or folds made.
var ErrOtherSchema = errors.New("the read model was made by another release")

// fingerprint is a digest of the statements that make the read model, comments
// included. It is stored as the schema's comment.
func (p *Projector) fingerprint() string {
	sum := sha256.Sum256([]byte(p.statements()))
	return fmt.Sprintf("form %x", sum[:8])
}

// Fingerprint identifies the statements that make the read model, and the folds.
func (p *Projector) Fingerprint() string { return p.fingerprint() }

// Check returns ErrOtherSchema for a read model of another release, and nil for a
// missing one.
func (p *Projector) Check(ctx context.Context) error {
	_, err := p.check(ctx, p.Pool)
	return err
}

// Exists reports whether the read model's tables exist. It returns ErrOtherSchema
// for those of another release.
func (p *Projector) Exists(ctx context.Context) (bool, error) { return p.check(ctx, p.Pool) }

// Watch returns ErrOtherSchema once the read model is of another release, and nil
// when ctx ends. It is for processes that read what another one projects.
func (p *Projector) Watch(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if err := p.Check(ctx); errors.Is(err, ErrOtherSchema) {
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

// check is Exists on a connection or in a transaction.
func (p *Projector) check(ctx context.Context, db querier) (exists bool, err error) {
	var found string
	err = db.QueryRow(ctx, `SELECT coalesce(obj_description(oid, 'pg_namespace'), 'no known form') FROM pg_namespace WHERE nspname = $1`,
		p.Schema).Scan(&found)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for the read model: %w", err)
	case found != p.fingerprint():
		return true, fmt.Errorf("%w: schema %s has %s, this release needs %s; run 'netsim readmodel rebuild next' and 'netsim readmodel promote next'",
			ErrOtherSchema, p.Schema, found, p.fingerprint())
	}
	return true, nil
}
