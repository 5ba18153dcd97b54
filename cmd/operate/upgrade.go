package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/api"
	"netsim/cmd/connections"
	"netsim/events"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/sqlstate"
	"netsim/infra/wait"
)

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
func (t *Tools) FinishUpgrade(ctx context.Context) (before api.UpgradeStatus, err error) {
	if before, err = t.Upgrade(ctx); err != nil {
		return before, err
	}
	if err := projector.RefuseLevel(int(before.Level)); err != nil {
		return before, err
	}
	if err := older(before); err != nil {
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
func older(s api.UpgradeStatus) error {
	var names []string
	for _, m := range s.Members {
		switch {
		case m.Level >= int64(events.Level):
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
		s, err := t.Upgrade(ctx)
		if err != nil {
			return err
		}
		if err = older(s); err == nil {
			return nil
		}
		if wait.For(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("the level is raised, but %w; stop them", err)
		}
	}
}
