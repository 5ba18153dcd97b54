package operations

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/api"
	"netsim/events"
	"netsim/infra/jobs"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/sqlstate"
	"netsim/projections"
	"netsim/runs"
)

// Jobs returns a summary of the jobs by kind and state, at most limit; 0 is for all.
// Credentials in errors are replaced.
func (v *View) Jobs(ctx context.Context, limit int) (list api.JobList, err error) {
	if err := hasJobs(ctx, v.DB); err != nil {
		return list, err
	}
	found, err := jobs.Summarize(ctx, v.DB)
	if err != nil {
		return list, err
	}
	found, list.Total = first(found, limit)
	list.Items = api.Each(found, func(s *jobs.Summary) api.JobSummary {
		return api.JobSummary{
			Kind: s.Kind, State: s.State, Jobs: s.Jobs, OldestSeconds: s.OldestSeconds, Attempts: s.Attempts,
			LastError: text(v.Conn.Config.Redact(s.LastError)), LastErrorAt: timestampOf(s.LastErrorAt),
		}
	})
	return list, nil
}

func hasJobs(ctx context.Context, pool *pgxpool.Pool) error {
	var exists bool
	err := pool.QueryRow(ctx, `SELECT to_regclass('`+jobs.Schema+`.river_job') IS NOT NULL`).Scan(&exists)
	if err == nil && !exists {
		err = fmt.Errorf("the database has no job queue: 'netsim serve' makes it")
	}
	return err
}

// OpenRuns returns at most limit simulations that have not ended, ordered by status, engine
// and age, and the number of all by status and engine.
func (v *View) OpenRuns(ctx context.Context, limit int) (list api.OpenRunList, err error) {
	if err := hasJobs(ctx, v.DB); err != nil {
		return list, err
	}
	open, counts, err := projections.OpenSimulations(ctx, v.DB, limit)
	if err != nil {
		return list, err
	}
	ids := make([]string, len(open))
	for i := range open {
		ids[i] = open[i].ID
	}
	jobOf, err := jobs.Latest(ctx, v.DB, "simulationId", ids, runs.RunSimulation{}.Kind(), runs.FollowSimulation{}.Kind())
	if err != nil {
		return list, err
	}
	list.Items = api.Each(open, func(s *projections.Simulation) api.OpenRun {
		job := jobOf[s.ID]
		return api.OpenRun{
			Simulation: s.ID, Account: s.AccountID, Status: s.Status, Engine: s.Engine,
			AgeSeconds: max(time.Since(s.CreatedAt).Seconds(), 0), StartedAt: timestampOf(s.StartedAt),
			Job: job.State, Worker: job.Worker, Attempts: job.Attempts,
			DeliveredBytes: s.DeliveredBytes, TotalBytes: s.TotalBytes, StalledSince: timestampOf(s.StalledSince),
		}
	})
	list.Counts = api.Each(counts, func(c *projections.OpenCount) api.OpenRunCount {
		return api.OpenRunCount{Status: c.Status, Engine: c.Engine, Simulations: c.Simulations}
	})
	for _, c := range counts {
		list.Total += c.Simulations
	}
	return list, nil
}

// Upgrade returns the level of the deployment and the processes that run.
func (v *View) Upgrade(ctx context.Context) (s api.UpgradeStatus, err error) {
	level, raised, err := postgres.ReadLevel(ctx, v.DB)
	switch {
	case sqlstate.IsMissing(err):
		level = events.FirstLevel
	case err != nil:
		return s, err
	case !raised.IsZero():
		s.RaisedAt = timestampOf(&raised)
	}
	s.Level, s.Supported = int64(level), int64(events.Level)
	members, err := postgres.Members(ctx, v.DB, v.Self)
	if err != nil {
		return s, err
	}
	s.Members = api.Each(members, func(m *postgres.Member) api.ProcessStatus {
		return api.ProcessStatus{Process: m.Process, Release: m.Release, Level: int64(m.Level), Sessions: int64(m.Sessions)}
	})
	superseded, err := projector.Superseded(ctx, v.DB)
	s.Superseded = api.Each(superseded, func(m *projector.SupersededModel) api.SupersededReadModel {
		return api.SupersededReadModel{Schema: m.Schema, Processes: int64(m.Processes)}
	})
	return s, err
}
