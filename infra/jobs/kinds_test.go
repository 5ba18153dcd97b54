package jobs_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"netsim/infra/jobs"
)

// run is a job of a fair kind. farRun is one in another queue, for remote engines.
type run struct {
	SimulationID string `json:"simulationId"`
}

func (run) Kind() string { return "run_simulation" }

type farRun run

func (farRun) Kind() string { return "follow_simulation" }

// extract and purge are jobs of other kinds.
type extract struct {
	TracesetID string `json:"tracesetId"`
}

func (extract) Kind() string { return "extract" }

type purge run

func (purge) Kind() string { return "purge" }

// day and sweep are jobs that a schedule enqueues.
type day struct {
	Date string `json:"date"`
}

func (day) Kind() string { return "day" }

type sweep struct{}

func (sweep) Kind() string { return "sweep" }

// work configures a process and its kinds of jobs. A test sets only the functions
// that it needs.
type work struct {
	jobs.Config

	Run        func(ctx context.Context, simulation string) error
	Abandon    func(ctx context.Context, simulation string) error
	Share      func(ctx context.Context, simulation string) (jobs.Share, error)
	Elsewhere  func(simulation string) bool
	Unfinished func(ctx context.Context) ([]string, error)
	Extract    func(ctx context.Context, traceset string) error
	Processing func(ctx context.Context) ([]string, error)
	Purge      func(ctx context.Context, simulation string) error
	Accrue     func(ctx context.Context, day string) error
	Sweep      func(ctx context.Context) error
}

// config has no poll within a test: each job is found because of a notification.
func config(url string) work {
	return work{
		Config: jobs.Config{
			URL: url, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now, Poll: time.Hour, Reconcile: 20 * time.Millisecond, Grace: 5 * time.Second,
			Queues: map[string]int{"runs": 2, "far": 16, "housekeeping": 1},
		},
		Run:   func(context.Context, string) error { return nil },
		Share: func(context.Context, string) (jobs.Share, error) { return jobs.Share{Cost: 1}, nil },
	}
}

// open connects to the queue and registers the kinds and needs.
func (w *work) open(ctx context.Context) (*jobs.Jobs, error) {
	j, err := jobs.Open(ctx, w.Config)
	if err != nil {
		return nil, err
	}
	jobs.Register(j, jobs.Kind[run]{
		Queue: "runs", Short: "short", Attempts: 50,
		Work:    func(ctx context.Context, a run) error { return w.Run(ctx, a.SimulationID) },
		Abandon: func(ctx context.Context, a run) error { return w.Abandon(ctx, a.SimulationID) },
		Share:   func(ctx context.Context, a run) (jobs.Share, error) { return w.Share(ctx, a.SimulationID) },
	})
	jobs.Register(j, jobs.Kind[farRun]{
		Queue: "far",
		Work:  func(ctx context.Context, a farRun) error { return w.Run(ctx, a.SimulationID) },
		Share: func(ctx context.Context, a farRun) (jobs.Share, error) { return w.Share(ctx, a.SimulationID) },
	})
	jobs.Register(j, jobs.Kind[extract]{
		Queue: "housekeeping",
		Work:  func(ctx context.Context, a extract) error { return w.Extract(ctx, a.TracesetID) },
	})
	jobs.Register(j, jobs.Kind[purge]{
		Queue: "housekeeping",
		Work:  func(ctx context.Context, a purge) error { return w.Purge(ctx, a.SimulationID) },
	})
	if w.Accrue != nil {
		jobs.Register(j, jobs.Kind[day]{
			Queue: "housekeeping", Schedule: jobs.Daily(),
			Scheduled: func(now time.Time) day { return day{Date: now.AddDate(0, 0, -1).Format(time.DateOnly)} },
			Work:      func(ctx context.Context, a day) error { return w.Accrue(ctx, a.Date) },
		})
	}
	if w.Sweep != nil {
		jobs.Register(j, jobs.Kind[sweep]{
			Queue: "housekeeping", Schedule: jobs.Every(time.Hour),
			Work: func(ctx context.Context, _ sweep) error { return w.Sweep(ctx) },
		})
	}
	if w.Unfinished != nil {
		j.Require(jobs.Need{
			Name: "simulations", Kinds: []string{run{}.Kind(), farRun{}.Kind()}, Member: "simulationId", List: w.Unfinished,
			Job: func(_ context.Context, id string) (jobs.Args, error) { return w.job(id), nil },
		})
	}
	if w.Processing != nil {
		j.Require(jobs.Need{
			Name: "tracesets", Kinds: []string{extract{}.Kind()}, Member: "tracesetId", List: w.Processing,
			Job: func(_ context.Context, id string) (jobs.Args, error) { return extract{TracesetID: id}, nil },
		})
	}
	return j, nil
}

func (w *work) job(simulation string) jobs.Args {
	if w.Elsewhere != nil && w.Elsewhere(simulation) {
		return farRun{SimulationID: simulation}
	}
	return run{SimulationID: simulation}
}

// enqueuing returns a process that only enqueues.
func enqueuing(t *testing.T, url string) *jobs.Jobs {
	t.Helper()
	c := config(url)
	c.Queues = nil
	j, err := c.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j
}
