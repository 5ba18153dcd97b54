package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"netsim/cmd/connections"
	"netsim/cmd/settings"
	"netsim/infra/health"
	"netsim/infra/postgres"
	"netsim/infra/telemetry"
	"netsim/infra/wait"
	"netsim/stream/archive"
)

// archiving archives the log in a process with the role archiver. One process at a time
// holds the lock and archives; the others wait for it.
type archiving struct {
	*archive.Archiver
	locks   postgres.Locks
	every   time.Duration
	log     *slog.Logger
	begun   time.Time
	writing atomic.Bool
	failed  atomic.Int64
}

const archiverLock = "archive of the log"

// archiver returns what archives the log in a process with this role, or else nil.
func (s *base) archiver() (*archiving, error) {
	if !s.config.Has(settings.RoleArchiver) {
		return nil, nil
	}
	target, err := connections.ArchiveTarget(&s.config, s.config.Archive, s.store)
	if err != nil {
		return nil, fmt.Errorf("NETSIM_ARCHIVE is %q: %w", s.config.Archive, err)
	}
	a := &archiving{locks: s.Locks, every: s.config.ArchiveEvery, log: s.log, begun: time.Now()}
	a.Archiver = &archive.Archiver{
		Log: s.EventLog, Target: target, Key: s.auditKey, Keys: []string{s.auditKey.Verifier}, Groups: ReactionGroups(s.config.TopicPrefix),
		Done: a.done,
	}
	return a, nil
}

// done logs the first error of several in a row, and counts all.
func (a *archiving) done(r archive.Report) {
	if r.Err == nil {
		a.failed.Store(0)
		return
	}
	if a.failed.Add(1) == 1 {
		a.log.Warn("the log could not be archived; this is repeated", "error", r.Err)
	}
}

// run archives while this process has the lock, until ctx ends.
func (a *archiving) run(ctx context.Context) error {
	for ctx.Err() == nil {
		release, err := a.locks.Try(ctx, archiverLock)
		if err != nil && !errors.Is(err, postgres.ErrHeld) && ctx.Err() == nil {
			a.log.WarnContext(ctx, "the lock of the archive cannot be had", "error", err)
		}
		if err == nil {
			a.writing.Store(true)
			a.Follow(ctx, a.every)
			a.writing.Store(false)
			release()
		}
		if wait.For(ctx, a.every) != nil {
			break
		}
	}
	return nil
}

// lag returns the time since the last run that archived everything began. No record
// that is older is missing in the archive.
func (a *archiving) lag() time.Duration {
	if !a.writing.Load() {
		return 0
	}
	caught := a.Report().Caught
	if caught.IsZero() {
		caught = a.begun
	}
	return time.Since(caught)
}

// observeArchiver samples the archive.
func (s *base) observeArchiver(a *archiving) {
	const writing, lag, records, failures = "netsim_archive_writing", "netsim_archive_lag_seconds", "netsim_archive_records_total", "netsim_archive_failures_total"
	s.metrics.Sample(func(emit telemetry.Emit) {
		writes := 0.0
		if a.writing.Load() {
			writes = 1
		}
		r := a.Report()
		emit(writing, writes)
		emit(lag, a.lag().Seconds())
		emit(records, float64(r.Records))
		emit(failures, float64(r.Failures))
	}, writing, lag, records, failures)
}

// archiveStuck is how long the archive may be behind before it counts as stuck, beside
// six of its intervals.
const archiveStuck = 10 * time.Second

// probeArchive degrades while the log cannot be archived.
func (d *domain) probeArchive(context.Context) health.State {
	lag := d.archiver.lag()
	if lag <= archiveStuck+6*d.archiver.every {
		return health.State{}
	}
	return health.State{
		Err:     errors.Join(fmt.Errorf("the archive has lacked records for %v", lag.Round(time.Second)), d.archiver.Report().Err),
		Message: "the log is not archived",
	}
}
