package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/infra/doctor"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/sqlstate"
	"netsim/infra/telemetry"
	"netsim/infra/wait"
)

// member returns how a process of this release names its database sessions.
func member(process string, build telemetry.Build) postgres.Member {
	release := build.Version
	if release == "devel" {
		release = build.Commit
	}
	return postgres.Member{Process: process, Release: release, Level: events.Level}
}

// readLevel reads the level of the deployment, and refuses one that this release does not
// know. A database without the table is at the first level.
func (s *core) readLevel(ctx context.Context) error {
	level, _, err := postgres.ReadLevel(ctx, s.unverified)
	if sqlstate.IsMissing(err) {
		level, err = events.FirstLevel, nil
	}
	if err != nil {
		return err
	}
	s.level.Store(int64(level))
	return projector.RefuseLevel(level)
}

// Level returns the level of the deployment, as this process last read it.
func (s *core) currentLevel() int { return max(int(s.level.Load()), events.FirstLevel) }

// held reports whether events of a type must not be written yet, because processes of an
// older release that does not know the type may run.
func (s *core) held(eventType string) bool { return events.LevelOf(eventType) > s.currentLevel() }

// levelEvery is how often a process reads the level of the deployment.
const levelEvery = time.Second

// watchLevel reads the level of the deployment until ctx ends. It returns an error when the
// level is one that this release does not know.
func (s *core) watchLevel(ctx context.Context) error {
	for wait.For(ctx, levelEvery) == nil {
		err := s.readLevel(ctx)
		switch {
		case errors.Is(err, projector.ErrNewerLevel):
			return err
		case err != nil && ctx.Err() == nil:
			s.log.DebugContext(ctx, "the level of the deployment could not be read", "error", err)
		}
	}
	return nil
}

// raise stores in a transaction that the deployment is at a level, and marks the read models
// of the database with it. A database user who does not own them cannot mark them.
func (s *core) raise(ctx context.Context, tx pgx.Tx, level int) error {
	if err := postgres.RaiseLevel(ctx, tx, level); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return markReadModels(ctx, tx, level) })
	if sqlstate.IsForbidden(err) {
		s.log.WarnContext(ctx, "the read models are not marked with the level of the deployment; run netsim upgrade finish as their owner", "level", level, "error", err)
		err = nil
	}
	return err
}

// UpgradeStatus describes which releases run, and the levels that they know.
type UpgradeStatus struct {
	Level     int               `json:"level"`     // of the deployment
	RaisedAt  *time.Time        `json:"raisedAt"`  // nil at level 1
	Supported int               `json:"supported"` // the newest level that this release knows
	Members   []postgres.Member `json:"members"`   // the processes with sessions in the database, without this one

	Superseded []projector.SupersededModel `json:"superseded"` // read models of other releases than the one that is live
}

// UpgradeStatus returns the level of the deployment and the processes that run.
func (t *Tools) UpgradeStatus(ctx context.Context) (UpgradeStatus, error) {
	s := UpgradeStatus{Supported: events.Level}
	level, raised, err := postgres.ReadLevel(ctx, t.pool)
	switch {
	case sqlstate.IsMissing(err):
		level = events.FirstLevel
	case err != nil:
		return s, err
	case !raised.IsZero():
		s.RaisedAt = &raised
	}
	s.Level = level
	if s.Members, err = postgres.Members(ctx, t.pool, t.core.process); err != nil {
		return s, err
	}
	s.Superseded, err = projector.Superseded(ctx, t.pool)
	return s, err
}

// errOlderRuns is wrapped by the error about processes of a release that would not know
// what may be written after a raise.
var errOlderRuns = errors.New("processes of an older release run")

// FinishUpgrade raises the level of the deployment to that of this release. It refuses
// while processes of an older release have database sessions. Repeating it marks read
// models that an older release has made since.
//
// In one transaction it stores the level and marks every read model with it. Older releases
// refuse a marked read model when they start, before they take anything, and those that
// have started since the check end within a second. FinishUpgrade waits for them.
func (t *Tools) FinishUpgrade(ctx context.Context) (before UpgradeStatus, err error) {
	if before, err = t.UpgradeStatus(ctx); err != nil {
		return before, err
	}
	if err := projector.RefuseLevel(before.Level); err != nil {
		return before, err
	}
	if err := before.older(); err != nil {
		return before, fmt.Errorf("%w; stop them first", err)
	}
	err = pgx.BeginFunc(ctx, t.pool, func(tx pgx.Tx) error {
		if err := postgres.RaiseLevel(ctx, tx, events.Level); err != nil {
			if sqlstate.IsMissing(err) {
				err = errors.New("the table of levels is missing: run netsim migrate of this release first")
			}
			return err
		}
		return markReadModels(ctx, tx, events.Level)
	})
	if err != nil {
		return before, err
	}
	return before, t.awaitOlder(ctx)
}

// older returns an error that lists the processes of older releases; nil for none.
func (s UpgradeStatus) older() error {
	var names []string
	for _, m := range s.Members {
		switch {
		case m.Level >= events.Level:
		case m.Process == "":
			names = append(names, fmt.Sprintf("%d sessions of a release without levels", m.Sessions))
		default:
			names = append(names, fmt.Sprintf("%s (%s, level %d)", m.Process, m.Release, m.Level))
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", errOlderRuns, strings.Join(names, ", "))
}

// olderTimeout bounds how long FinishUpgrade waits for processes that started while it
// raised the level.
const olderTimeout = 30 * time.Second

// awaitOlder waits until no process of an older release has a session.
func (t *Tools) awaitOlder(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, olderTimeout)
	defer cancel()
	for {
		s, err := t.UpgradeStatus(ctx)
		if err != nil {
			return err
		}
		if err = s.older(); err == nil {
			return nil
		}
		if wait.For(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("the level is raised, but %w; stop them", err)
		}
	}
}

// level checks that this release knows the level of the deployment, and that it is raised.
func (x *examination) level(ctx context.Context) doctor.Result {
	const finish = "once no older release runs and you will not go back, run 'netsim upgrade finish' (docs/upgrading.md)"
	level, _, err := postgres.ReadLevel(ctx, x.pool)
	missing := sqlstate.IsMissing(err)
	if missing {
		level, err = events.FirstLevel, nil
	}
	if err == nil {
		err = projector.RefuseLevel(level)
	}
	switch {
	case errors.Is(err, projector.ErrNewerLevel):
		return doctor.Failure("start the newer release again", "%v", err)
	case err != nil:
		return doctor.Failure("look at PostgreSQL's log", "%v", err)
	case missing:
		return doctor.Warning("run 'netsim migrate'", "no level yet: the tables are missing")
	case level < events.Level:
		return doctor.Warning(finish, "level %d; this release knows level %d, whose event types are held back", level, events.Level)
	}
	return doctor.Good("level %d, the newest that this release knows", level)
}

// markReadModels marks all read models with the level.
func markReadModels(ctx context.Context, tx pgx.Tx, level int) error {
	schemas, err := projector.ReadModels(ctx, tx)
	if err != nil {
		return err
	}
	for _, schema := range schemas {
		var comment string
		err := tx.QueryRow(ctx, `SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = $1`, schema).Scan(&comment)
		if err != nil {
			return fmt.Errorf("read the mark of %s: %w", schema, err)
		}
		fingerprint, marked := projector.ReadMark(comment)
		if fingerprint == "" || marked >= level {
			continue
		}
		_, err = tx.Exec(ctx, fmt.Sprintf(`COMMENT ON SCHEMA %s IS '%s'`, pgx.Identifier{schema}.Sanitize(),
			strings.ReplaceAll(projector.Marked(fingerprint, level), "'", "''")))
		if err != nil {
			return fmt.Errorf("mark %s: %w", schema, err)
		}
	}
	return nil
}

// named returns the pool option that names the sessions of this process.
func (s *core) named() func(*pgxpool.Config) { return postgres.Named(member(s.process, s.build)) }
