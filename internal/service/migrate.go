package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"netsim/infra/eventlog"
	"netsim/infra/jobs"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/reactor"
)

// Migrate creates what the configured roles need and does not exist yet: the topics, the
// bucket, the tables and an empty read model. It refuses what it finds if the service would.
// Repeating it changes nothing. No process of the service has to run.
//
// With NETSIM_MIGRATE=false the processes need no right to create anything, because an
// operator or a job has called Migrate before.
func Migrate(ctx context.Context, c Config, log *slog.Logger) error {
	c.Migrate = true
	c.StartTimeout = 0 // its caller sees the first error
	if err := c.check(); err != nil {
		return err
	}
	s, err := newCore(ctx, c, log)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.connect(ctx); err != nil { // tables, the topics of the log, and the bucket
		return err
	}
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
	if c.has(RoleReactor) {
		letters, err := reactor.New(s.reactorConfig())
		if err != nil {
			return err
		}
		if err := letters.EnsureDeadLetters(); err != nil {
			return err
		}
		if err := s.eventLog.Require(ctx, reactor.DeadLetterTopic(c.TopicPrefix)); err != nil {
			return err
		}
	}
	if c.has(RolePublisher) {
		public, err := s.publisher(nil)
		if err != nil {
			return err
		}
		if err := public.EnsureTopics(ctx); err != nil {
			return err
		}
	}
	if c.has(RoleLake) {
		return s.lake().Create(ctx)
	}
	return nil
}

func (s *core) ensureTables(ctx context.Context) error {
	if s.config.Migrate {
		return postgres.Migrate(ctx, s.unverified)
	}
	return orMigrate(postgres.Migrated(ctx, s.unverified))
}

func (s *core) ensureTopics(ctx context.Context) error {
	if s.config.ReadOnly {
		return nil // they are another deployment's
	}
	if s.config.Migrate {
		return s.eventLog.Ensure(ctx)
	}
	var further []string
	if s.config.has(RoleReactor) {
		further = append(further, reactor.DeadLetterTopic(s.config.TopicPrefix))
	}
	return orMigrate(s.eventLog.Require(ctx, further...))
}

func (s *core) ensureBucket(ctx context.Context) error {
	if s.config.ReadOnly {
		return nil // it is another deployment's
	}
	if s.config.Migrate {
		return s.objects.EnsureBucket(ctx)
	}
	return orMigrate(s.objects.RequireBucket(ctx))
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
