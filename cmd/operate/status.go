package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/jobs"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/projections"
	"netsim/reactions"
	"netsim/runs"
)

// ReadModels returns the status of each read model, the live one first.
func (t *Tools) ReadModels(ctx context.Context) ([]projector.Status, error) {
	schemas, err := projector.ReadModels(ctx, t.conn.Pool)
	if err != nil {
		return nil, err
	}
	log, err := t.conn.EventLog.Describe(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]projector.Status, len(schemas))
	for i, schema := range schemas {
		if all[i], err = t.statusOf(ctx, schema, log); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (t *Tools) statusOf(ctx context.Context, schema string, log eventlog.Description) (projector.Status, error) {
	return projector.New(t.conn.ProjectorConfig(t.conn.Pool, schema)).Status(ctx, log, time.Now())
}

// live returns the status of the live read model.
func (t *Tools) live(ctx context.Context) (projector.Status, error) {
	log, err := t.conn.EventLog.Describe(ctx)
	if err != nil {
		return projector.Status{}, err
	}
	return t.statusOf(ctx, projector.Live, log)
}

// StreamStatus summarizes the streams of a family in the live read model.
type StreamStatus struct {
	Family        events.Family `json:"family"`
	Partitions    int64         `json:"partitions"`
	Records       int64         `json:"records"` // number of records in the log
	LagRecords    int64         `json:"lagRecords"`
	LagSeconds    float64       `json:"lagSeconds"`
	ParkedStreams int64         `json:"parkedStreams"`
	ParkedFacts   int64         `json:"parkedFacts"`
}

// StreamStatus returns a summary of each family.
func (t *Tools) StreamStatus(ctx context.Context) ([]StreamStatus, error) {
	live, err := t.live(ctx)
	if err != nil {
		return nil, err
	}
	parked, err := projector.ParkedStreams(ctx, t.conn.Pool, projector.Live)
	if err != nil {
		return nil, err
	}
	var all []StreamStatus
	for _, part := range live.Partitions { // ordered by family
		if len(all) == 0 || all[len(all)-1].Family != part.Family {
			all = append(all, StreamStatus{Family: part.Family, ParkedStreams: parked[part.Family]})
		}
		s := &all[len(all)-1]
		s.Partitions++
		s.Records += part.End
		s.LagRecords += part.LagRecords
		s.LagSeconds = max(s.LagSeconds, part.LagSeconds)
		s.ParkedFacts += part.Parked
	}
	return all, nil
}

// ReactionStatus returns the status of each handler in each partition, and the number of
// all open dead letters. Partitions with dead letters come first, then those that lag
// most.
func (t *Tools) ReactionStatus(ctx context.Context) (all []reactor.Status, letters int, err error) {
	live, err := t.live(ctx)
	if err != nil {
		return nil, 0, err
	}
	open, err := t.conn.Letters.Open(ctx)
	if err != nil {
		return nil, 0, err
	}
	judged := make([]reactor.Position, len(live.Partitions))
	for i, part := range live.Partitions {
		judged[i] = reactor.Position{Family: part.Family, Partition: part.Partition, Next: part.Next}
	}
	all, err = reactor.ReadStatus(ctx, t.conn.EventLog, t.conn.Config.TopicPrefix, reactions.Families(), judged, open, time.Now())
	slices.SortFunc(all, func(a, b reactor.Status) int {
		return cmp.Or(cmp.Compare(b.DeadLetters, a.DeadLetters), cmp.Compare(b.LagRecords, a.LagRecords),
			cmp.Compare(a.Handler, b.Handler), cmp.Compare(a.Family, b.Family), cmp.Compare(a.Partition, b.Partition))
	})
	return all, len(open), err
}

// JobStatus returns a summary of the jobs by kind and state. Credentials in errors are
// replaced.
func (t *Tools) JobStatus(ctx context.Context) ([]jobs.Summary, error) {
	if err := hasJobs(ctx, t.conn.Pool); err != nil {
		return nil, err
	}
	all, err := jobs.Summarize(ctx, t.conn.Pool)
	for i := range all {
		all[i].LastError = t.conn.Config.Redact(all[i].LastError)
	}
	return all, err
}

func hasJobs(ctx context.Context, pool *pgxpool.Pool) error {
	var exists bool
	err := pool.QueryRow(ctx, `SELECT to_regclass('`+jobs.Schema+`.river_job') IS NOT NULL`).Scan(&exists)
	if err == nil && !exists {
		err = fmt.Errorf("the database has no job queue: 'netsim serve' makes it")
	}
	return err
}

// RunStatus describes a simulation that has not ended.
type RunStatus struct {
	Simulation     string     `json:"simulation"`
	Account        string     `json:"account"`
	Status         string     `json:"status"`
	Engine         string     `json:"engine"`     // "" before the start
	AgeSeconds     float64    `json:"ageSeconds"` // time since the submission
	StartedAt      *time.Time `json:"startedAt"`
	Job            string     `json:"job"`      // state of the job; "" without a job
	Worker         string     `json:"worker"`   // the last worker that took the job; "" if none did
	Attempts       int64      `json:"attempts"` // attempts of the job
	DeliveredBytes int64      `json:"deliveredBytes"`
	TotalBytes     int64      `json:"totalBytes"` // 0 if unknown
	StalledSince   *time.Time `json:"stalledSince"`
}

// RunStatus returns at most limit simulations that have not ended, ordered by status,
// engine and age, and the number of such simulations by status and engine.
func (t *Tools) RunStatus(ctx context.Context, limit int) ([]RunStatus, []projections.OpenCount, error) {
	if err := hasJobs(ctx, t.conn.Pool); err != nil {
		return nil, nil, err
	}
	open, counts, err := projections.OpenSimulations(ctx, t.conn.Pool, limit)
	if err != nil {
		return nil, nil, err
	}
	ids := make([]string, len(open))
	for i := range open {
		ids[i] = open[i].ID
	}
	jobOf, err := jobs.Latest(ctx, t.conn.Pool, "simulationId", ids, runs.RunSimulation{}.Kind(), runs.FollowSimulation{}.Kind())
	if err != nil {
		return nil, nil, err
	}
	all := make([]RunStatus, len(open))
	for i, sim := range open {
		job := jobOf[sim.ID]
		all[i] = RunStatus{
			Simulation: sim.ID, Account: sim.AccountID, Status: sim.Status, Engine: sim.Engine,
			AgeSeconds: max(time.Since(sim.CreatedAt).Seconds(), 0), StartedAt: sim.StartedAt,
			Job: job.State, Worker: job.Worker, Attempts: job.Attempts,
			DeliveredBytes: sim.DeliveredBytes, TotalBytes: sim.TotalBytes, StalledSince: sim.StalledSince,
		}
	}
	return all, counts, nil
}
