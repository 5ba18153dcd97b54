package projector

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// ErrOtherSchema is wrapped by the error about a read model that a release with
// other tables or folds made.
var ErrOtherSchema = errors.New("the read model was made by another release")

// ErrNewerLevel is wrapped by the error about a read model of a deployment at a level that
// this release does not know.
var ErrNewerLevel = errors.New("the deployment is of a newer release")

// digest returns a digest of the statements that make the read model, comments
// included. It is stored as the schema's comment, with the level of the deployment if that
// is above the first.
func (p *Projector) digest() string {
	sum := sha256.Sum256([]byte(p.statements()))
	return fmt.Sprintf(formPrefix+"%x", sum[:8])
}

// Fingerprint identifies the statements that make the read model, and the folds.
func (p *Projector) Fingerprint() string { return p.fingerprint() }

// levelMark separates the fingerprint and the level in the comment of a read model's
// schema. Releases that do not know of levels compare the whole comment, so they refuse a
// read model with a level.
const levelMark = ", level "

// Marked returns the comment of a read model's schema.
func Marked(fingerprint string, level int) string {
	if level <= events.FirstLevel {
		return fingerprint
	}
	return fingerprint + levelMark + strconv.Itoa(level)
}

// ReadMark returns the fingerprint and the level in the comment of a read model's schema. A
// level that cannot be read is math.MaxInt.
func ReadMark(comment string) (fingerprint string, level int) {
	fingerprint, text, marked := strings.Cut(comment, levelMark)
	if !marked {
		return fingerprint, events.FirstLevel
	}
	level, err := strconv.Atoi(text)
	if err != nil || level <= events.FirstLevel {
		level = math.MaxInt
	}
	return fingerprint, level
}

// RefuseLevel returns ErrNewerLevel for a level that this release does not know.
func RefuseLevel(level int) error {
	if level <= events.Level {
		return nil
	}
	return fmt.Errorf("%w: it is at level %d, this release knows levels up to %d; start the newer release again",
		ErrNewerLevel, level, events.Level)
}

// Check returns ErrOtherSchema or ErrNewerLevel for a read model of another release, and
// nil for a missing one.
func (p *Projector) Check(ctx context.Context) error {
	_, err := p.check(ctx, p.Pool)
	return err
}

// Exists reports whether the read model's tables exist. It returns ErrOtherSchema or
// ErrNewerLevel for those of another release.
func (p *Projector) Exists(ctx context.Context) (bool, error) { return p.check(ctx, p.Pool) }

// Beside reports whether a read model of this release is beside the live one.
func (p *Projector) Beside(ctx context.Context) (exists bool, err error) {
	err = p.Pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname <> $1
			AND split_part(coalesce(obj_description(oid, 'pg_namespace'), ''), $2, 1) = $3)`, Live, levelMark, p.fingerprint()).Scan(&exists)
	if err != nil {
		return false, fmt.Errorf("look for a read model of this release: %w", err)
	}
	return exists, nil
}

// Watch returns ErrOtherSchema or ErrNewerLevel once the read model is of another
// release, and nil when ctx ends. It is for processes that read what another one projects.
func (p *Projector) Watch(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if err := p.Check(ctx); isOtherRelease(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// isOtherRelease reports whether the error means that this release cannot use the read
// model.
func isOtherRelease(err error) bool {
	return errors.Is(err, ErrOtherSchema) || errors.Is(err, ErrNewerLevel)
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// check is Exists on a connection or in a transaction.
func (p *Projector) check(ctx context.Context, db querier) (exists bool, err error) {
	schemas := []string{p.Schema}
	if p.Schema == "" {
		schemas = []string{NameOf(p.fingerprint()), Live}
	}
	var schema, comment string
	err = db.QueryRow(ctx, `SELECT nspname, coalesce(obj_description(oid, 'pg_namespace'), 'no known form')
		FROM pg_namespace WHERE nspname = ANY($1) ORDER BY nspname DESC LIMIT 1`, schemas).Scan(&schema, &comment)
	found, level := ReadMark(comment)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for the read model: %w", err)
	case level > events.Level:
		return true, RefuseLevel(level)
	case found != p.fingerprint():
		return true, fmt.Errorf("%w: schema %s has %s, this release needs %s; run 'netsim readmodel rebuild next' and 'netsim readmodel promote next'",
			ErrOtherSchema, schema, found, p.fingerprint())
	}
	return true, nil
}
