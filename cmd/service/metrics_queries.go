package service

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"netsim/billing"
	"netsim/cmd/operations"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/jobs"
	"netsim/infra/reactor"
	"netsim/infra/telemetry"
	"netsim/projections"
)

// observeCore samples the parts that every role uses, and queries the lag and the
// parked streams.
func (s *process) observeCore() {
	const (
		fetches, age, entries, bytes      = "netsim_jwks_fetches_total", "netsim_jwks_age_seconds", "netsim_cache_entries", "netsim_cache_bytes"
		judged, parked, forged            = "netsim_projector_records_total", "netsim_projector_parked_total", "netsim_log_forged_records_total"
		waiting, queued, queuedBytes      = "netsim_verdicts_waiting", "netsim_log_append_queue_records", "netsim_log_append_queue_bytes"
		lagRecords, lagSeconds, unapplied = "netsim_projector_lag_records", "netsim_projector_lag_seconds", "netsim_projector_parked_streams"
		releaseLevel, superseded          = "netsim_release_level", "netsim_superseded"
		absent, unhealthy, refused        = "netsim_log_brokers_absent", "netsim_log_partitions", "netsim_log_refused"
	)
	s.metrics.Sample(func(emit telemetry.Emit) {
		emit(releaseLevel, float64(s.Level.Current()), "deployment")
		emit(releaseLevel, events.Level, "release")
	}, releaseLevel)
	s.metrics.Sample(func(emit telemetry.Emit) { emit(superseded, number(s.watcher.Superseded())) }, superseded)
	s.metrics.Sample(func(emit telemetry.Emit) {
		if s.config.Has(settings.RoleAPI) {
			keys := s.verifier.Report()
			emit(fetches, float64(keys.Fetched), "fetched")
			emit(fetches, float64(keys.Failed), "failed")
			if !keys.Confirmed.IsZero() {
				emit(age, time.Since(keys.Confirmed).Seconds())
			}
			emit(entries, float64(keys.Tokens), "tokens")
			emit(bytes, float64(keys.TokenBytes), "tokens")
		}
		if s.config.Has(settings.RoleProjector) {
			report := s.projector.Report()
			for verdict, n := range report.Verdicts {
				emit(judged, float64(n), string(verdict))
			}
			emit(parked, float64(report.Parked))
			emit(forged, float64(report.Verdicts[events.Forged]))
			emit(entries, float64(report.Streams), "streams")
			emit(bytes, float64(report.Cached), "streams")
			emit(entries, float64(report.Rows), "rows")
			emit(bytes, float64(report.RowBytes), "rows")
		}
		emit(waiting, float64(s.watcher.Waiting()))
		for _, q := range s.EventLog.Queues() {
			topic, partition := strings.TrimPrefix(q.Topic, s.config.TopicPrefix), strconv.Itoa(int(q.Partition))
			emit(queued, float64(q.Records), topic, partition)
			emit(queuedBytes, float64(q.Bytes), topic, partition)
		}
	}, fetches, age, entries, bytes, judged, parked, forged, waiting, queued, queuedBytes)
	s.metrics.Query("lag", func(ctx context.Context, emit telemetry.Emit) error {
		lags, err := s.measureLag(ctx)
		for _, at := range lags {
			family, partition := string(at.Family), strconv.Itoa(int(at.Partition))
			emit(lagRecords, float64(at.Records), family, partition)
			emit(lagSeconds, at.Age(time.Now()).Seconds(), family, partition)
		}
		return err
	}, lagRecords, lagSeconds)
	s.metrics.Query("event_log", func(ctx context.Context, emit telemetry.Emit) error {
		log, err := s.describe(ctx)
		if err != nil {
			return err
		}
		behind, leaderless := 0, 0
		for _, topic := range log.Topics {
			for _, part := range topic.Partitions {
				behind += int(number(part.OutOfSync > 0))
				leaderless += int(number(part.Leader < 0))
			}
		}
		emit(absent, float64(log.Absent))
		emit(unhealthy, float64(behind), "out_of_sync")
		emit(unhealthy, float64(leaderless), "leaderless")
		emit(refused, number(s.EventLog.Check(log) != nil))
		return nil
	}, absent, unhealthy, refused)
	s.metrics.Query("parked_streams", func(ctx context.Context, emit telemetry.Emit) error {
		streams, err := s.parkedStreams(ctx)
		emit(unapplied, float64(streams))
		return err
	}, unapplied)
}

// observeReactor queries the lag of the handlers and the open dead letters.
func (s *base) observeReactor(r *reactor.Reactor, partitions map[events.Family]int32) {
	const behind, letters = "netsim_reaction_lag_seconds", "netsim_dead_letters_open"
	lags := map[string]*reactor.Lag{}
	for handler, families := range r.Families() {
		lags[handler] = s.reactionLag(handler, families, partitions)
	}
	s.metrics.Query("reaction_lag", func(ctx context.Context, emit telemetry.Emit) error {
		for handler, lag := range lags {
			took, err := lag.Behind(ctx)
			if err != nil {
				return fmt.Errorf("measure the lag of %s: %w", handler, err)
			}
			emit(behind, took.Seconds(), handler)
		}
		return nil
	}, behind)
	s.metrics.Query("dead_letters", func(ctx context.Context, emit telemetry.Emit) error {
		open, err := s.Letters.Open(ctx)
		if err != nil {
			return err
		}
		counts := map[string]int{}
		for handler := range lags {
			counts[handler] = 0
		}
		for _, l := range open {
			counts[l.Handler]++
		}
		for handler, n := range counts {
			emit(letters, float64(n), handler)
		}
		return nil
	}, letters)
}

// observeWork queries the jobs, the runs, the studies, and how late the accrual and the newest log
// checkpoint are.
func (s *base) observeWork(queue *jobs.Jobs) {
	const (
		count, oldest, runs, stalled = "netsim_jobs", "netsim_jobs_oldest_seconds", "netsim_runs", "netsim_runs_stalled"
		studies, points              = "netsim_studies_running", "netsim_study_points"
		accrual, checkpoint          = "netsim_billing_accrual_age_seconds", "netsim_log_checkpoint_age_seconds"
	)
	s.metrics.Query("jobs", func(ctx context.Context, emit telemetry.Emit) error {
		counts, err := queue.Counts(ctx)
		for _, c := range counts {
			emit(count, float64(c.Jobs), c.Kind, c.State)
			emit(oldest, max(0, time.Since(c.Oldest).Seconds()), c.Kind, c.State)
		}
		return err
	}, count, oldest)
	s.metrics.Query("runs", func(ctx context.Context, emit telemetry.Emit) error {
		open, err := projections.CountOpenSimulations(ctx, s.verified)
		for _, o := range open {
			emit(runs, float64(o.Simulations), cmp.Or(o.Engine, "none"), o.Status)
		}
		if err != nil {
			return err
		}
		still, err := projections.CountStalledSimulations(ctx, s.verified)
		emit(stalled, float64(still))
		return err
	}, runs, stalled)
	s.metrics.Query("studies", func(ctx context.Context, emit telemetry.Emit) error {
		counts, err := projections.CountStudies(ctx, s.verified)
		emit(studies, float64(counts.Running))
		emit(points, float64(counts.Waiting), "waiting")
		emit(points, float64(counts.Unfinished), "unfinished")
		return err
	}, studies, points)
	s.metrics.Query("accrual", func(ctx context.Context, emit telemetry.Emit) error {
		day, err := billing.AccruedThrough(ctx, s.verified)
		if err == nil && !day.IsZero() {
			emit(accrual, max(0, time.Since(day.AddDate(0, 0, 1)).Seconds()))
		}
		return err
	}, accrual)
	s.metrics.Query("checkpoint", func(ctx context.Context, emit telemetry.Emit) error {
		view := operations.ViewOf(s.Connections, s.verified)
		last, err := view.LogCheckpoint(ctx)
		if err == nil && last.SignedAt != nil {
			emit(checkpoint, max(0, time.Since(last.SignedAt.Time).Seconds()))
		}
		return err
	}, checkpoint)
}
