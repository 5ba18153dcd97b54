package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/connections"
	"netsim/events"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/sqlstate"
	"netsim/infra/wait"
)

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
	level, raised, err := postgres.ReadLevel(ctx, t.conn.Pool)
	switch {
	case sqlstate.IsMissing(err):
		level = events.FirstLevel
	case err != nil:
		return s, err
	case !raised.IsZero():
		s.RaisedAt = &raised
	}
	s.Level = level
	if s.Members, err = postgres.Members(ctx, t.conn.Pool, t.conn.Process); err != nil {
		return s, err
	}
	s.Superseded, err = projector.Superseded(ctx, t.conn.Pool)
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
	err = pgx.BeginFunc(ctx, t.conn.Pool, func(tx pgx.Tx) error {
		if err := postgres.RaiseLevel(ctx, tx, events.Level); err != nil {
			if sqlstate.IsMissing(err) {
				err = errors.New("the table of levels is missing: run netsim migrate of this release first")
			}
			return err
		}
		return connections.MarkReadModels(ctx, tx, events.Level)
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
