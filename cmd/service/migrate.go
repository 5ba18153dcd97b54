package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/cmd/settings"
	"netsim/infra/eventlog"
	"netsim/infra/jobs"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/stream/webhooks"
)

// Migrate creates what the configured roles need and does not exist yet: the topics, the
// bucket, the tables and an empty read model. It refuses what it finds if the service would.
// Repeating it changes nothing. No process of the service has to run.
//
// With NETSIM_MIGRATE=false the processes need no right to create anything, because an
// operator or a job has called Migrate before.
func Migrate(ctx context.Context, c settings.Config, log *slog.Logger) error {
	c.Migrate = true
	c.StartTimeout = 0 // its caller sees the first error
	if err := c.Check(); err != nil {
		return err
	}
	l, err := newLaunch(ctx, c, log)
	if err != nil {
		return err
	}
	defer l.closeTraces()
	s, err := l.connect(ctx) // tables, the topics of the log, and the bucket
	if err != nil {
		return err
	}
	defer s.close()
	s.projector.Renew = false // what exists is kept, also in development
	if err := s.projector.Create(ctx); errors.Is(err, projector.ErrOtherSchema) {
		log.WarnContext(ctx, "the live read model stays that of another release until the one of this release is promoted", "reason", err)
	} else if err != nil {
		return err
	}
	if err := s.leases(projector.Live).Create(ctx); err != nil {
		return err
	}
	queue, err := s.openJobs(ctx)
	if err != nil {
		return err
	}
	queue.Close()
	if c.Has(settings.RoleReactor) {
		letters, err := reactor.New(s.reactorConfig())
		if err != nil {
			return err
		}
		if err := letters.EnsureDeadLetters(); err != nil {
			return err
		}
		if err := s.EventLog.Require(ctx, reactor.DeadLetterTopic(c.TopicPrefix)); err != nil {
			return err
		}
	}
	if c.Has(settings.RolePublisher) {
		public, err := s.publisher(nil)
		if err != nil {
			return err
		}
		if err := public.EnsureTopics(ctx); err != nil {
			return err
		}
	}
	if c.Has(settings.RoleLake) {
		if err := s.lake(nil).Create(ctx); err != nil {
			return err
		}
	}
	return webhooks.New(webhooks.Config{Pool: s.Pool}).Create(ctx)
}

func (l *launch) ensureTables(ctx context.Context, pool *pgxpool.Pool) error {
	if l.config.Migrate {
		return postgres.Migrate(ctx, pool)
	}
	return orMigrate(postgres.Migrated(ctx, pool))
}

func (s *process) ensureTopics(ctx context.Context) error {
	if s.config.ReadOnly {
		return nil // they are another deployment's
	}
	if s.config.Migrate {
		return s.EventLog.Ensure(ctx)
	}
	var further []string
	if s.config.Has(settings.RoleReactor) {
		further = append(further, reactor.DeadLetterTopic(s.config.TopicPrefix))
	}
	return orMigrate(s.EventLog.Require(ctx, further...))
}

func (s *process) ensureBucket(ctx context.Context) error {
	if s.config.ReadOnly {
		return nil // it is another deployment's
	}
	if s.config.Migrate {
		return s.Objects.EnsureBucket(ctx)
	}
	return orMigrate(s.Objects.RequireBucket(ctx))
}

// orMigrate adds to an error about what is missing how to create it.
func orMigrate(err error) error {
	for _, missing := range []error{postgres.ErrNotMigrated, jobs.ErrNotMigrated, eventlog.ErrNoTopics, objects.ErrNoBucket} {
		if errors.Is(err, missing) {
			return fmt.Errorf("NETSIM_MIGRATE is false and %w: run netsim migrate of this release first", err)
		}
	}
	return err
}
