package studies

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/wait"
	"netsim/projections"
)

// RunStudy is the job that starts the points of a study, and stops its runs.
type RunStudy struct {
	StudyID string `json:"studyId"`
}

// Kind is its stored name.
func (RunStudy) Kind() string { return "run_study" }

// RemoveStudy is the job that deletes the runs of a deleted study. It is a kind of its
// own, so that it is enqueued while the other job ends.
type RemoveStudy struct {
	StudyID string `json:"studyId"`
}

// Kind is its stored name.
func (RemoveStudy) Kind() string { return "remove_study" }

// Job is a job of this package.
type Job = interface{ Kind() string }

const (
	// window is how many runs of a study are unfinished at a time. It keeps the workers
	// of a large deployment busy, and a terminated study stops soon.
	window = 128
	// batch is how many points one event starts at most, and half of it at least, unless
	// fewer are left or the quotas admit fewer.
	batch    = 64
	inFlight = 16 // commands at a time
	// rest is the shortest time between two looks at the runs of a study, whose facts may
	// come one by one.
	rest = 50 * time.Millisecond
)

// Worker runs studies.
type Worker struct {
	Commands *handle.Handler
	DB       projections.Reader
	// Room returns how many more runs the quotas of an account admit.
	Room func(ctx context.Context, account string) (int64, error)
	// Hold reserves credit for a simulation before it is requested, or returns
	// PaymentRequired. Repeating it reserves nothing more.
	Hold func(ctx context.Context, simulation, correlationID string, requested events.SimulationRequested) error
	// Changes returns a channel that receives a value after facts of simulations, credit and
	// quotas have reached the read model. stop ends it.
	Changes func() (changed <-chan struct{}, stop func())
}

// React returns the reaction that enqueues the job of a study that has work.
func React(enqueue func(context.Context, Job) error) func(context.Context, events.Fact) error {
	return func(ctx context.Context, f events.Fact) error {
		switch f.Data.(type) {
		case events.StudyStarted, events.StudyResumed, events.StudyTerminated:
			return enqueue(ctx, RunStudy{StudyID: f.Stream})
		case events.StudyDeleted:
			return enqueue(ctx, RemoveStudy{StudyID: f.Stream})
		}
		return nil
	}
}

// Run does what is left to do for a study. It returns nil when that is nothing. After an
// error, including the context's own, the caller must call Run again.
func (w *Worker) Run(ctx context.Context, id string) error {
	s, err := projections.FindStudy(ctx, w.DB, id)
	if err != nil {
		return err
	}
	if s.Deleted == "" && s.Status == commands.Running {
		if err := w.run(ctx, &s); err != nil {
			return err
		}
		if s, err = projections.FindStudy(ctx, w.DB, id); err != nil {
			return err
		}
	}
	switch {
	case s.Deleted != "": // while its points were started
		return w.remove(ctx, &s)
	case s.Status == commands.Terminated:
		return w.stop(ctx, &s)
	}
	return nil
}

// run starts the points of a running study until the study is over: completed by this
// worker, or terminated or deleted by its owner. It keeps s up to date.
func (w *Worker) run(ctx context.Context, s *projections.Study) error {
	p, err := PlanOf(s)
	if err != nil {
		return err
	}
	of, err := w.pointsOf(ctx, s, p)
	if err != nil {
		return err
	}
	var all *rivals
	if s.StopDominated {
		prices, err := PricesOf(ctx, w.DB, s, p)
		if err != nil {
			return err
		}
		all = rivalsOf(p, prices)
	}
	changed, stop := w.Changes()
	defer stop()
	for lacking := true; ; { // whether points before Next may lack their runs
		if *s, err = projections.FindStudy(ctx, w.DB, s.ID); err != nil || s.Status != commands.Running || s.Deleted != "" {
			return err
		}
		open, err := projections.OpenStudyRuns(ctx, w.DB, s.ID, window)
		if err != nil {
			return err
		}
		if all != nil {
			if err := w.stopDominated(ctx, s, all, open); err != nil {
				return fmt.Errorf("stop dominated runs of study %s: %w", s.ID, err)
			}
		}
		moved := false // whether there may be more to do at once
		switch free := window - len(open); {
		case lacking:
			moved, err = true, w.repair(ctx, s, of)
		case s.Next < s.Points && int64(free) >= min(batch/2, s.Points-s.Next):
			moved, err = w.advance(ctx, s, of, min(free, batch))
			moved = moved && len(open) < window/2
		case s.Next == s.Points && len(open) == 0:
			_, err = handle.Command(ctx, w.Commands, target(s), handle.System(s.ID, "complete", fmt.Sprint(s.Round)), commands.CompleteStudy{})
			return err
		}
		if lacking = fault.Is(err, fault.PaymentRequired); lacking {
			switch own, e := projections.OpenStudyRuns(ctx, w.DB, s.ID, 1); {
			case e != nil:
				return e
			case len(own) == 0:
				return w.unpaid(ctx, s, err)
			}
		}
		switch {
		case lacking: // the credit that its own runs hold is released when they end
		case err != nil:
			return fmt.Errorf("run study %s: %w", s.ID, err)
		case moved:
			continue
		}
		if err := pause(ctx, changed); err != nil {
			return err
		}
	}
}

// pause waits until the read model has changed, and for rest at least. It returns the
// error of ctx if ctx ends.
func pause(ctx context.Context, changed <-chan struct{}) error {
	if err := wait.For(ctx, rest); err != nil {
		return err
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unpaid terminates a study whose account has no credit left.
func (w *Worker) unpaid(ctx context.Context, s *projections.Study, reason error) error {
	_, err := handle.Command(ctx, w.Commands, target(s), handle.System(), commands.TerminateStudy{ID: s.ID, Reason: reason.Error()})
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) { // it has ended otherwise
		return nil
	}
	return err
}

// advance gives the next points, at most that many, their runs or the results of equal
// runs. The event decides which; the requests follow it, and repair repeats those that
// were lost. It returns false if the quotas of the account admit no more runs.
func (w *Worker) advance(ctx context.Context, s *projections.Study, of points, most int) (moved bool, err error) {
	room, err := w.Room(ctx, s.AccountID)
	if err != nil || room <= 0 {
		return false, err
	}
	advanced := events.StudyAdvanced{To: min(s.Next+min(int64(most), room), s.Points)}
	runs := make([]events.SimulationRequested, 0, most)
	hashes := make([]string, 0, most)
	for point := s.Next; point < advanced.To; point++ {
		r, _, err := of.request(point)
		if err != nil {
			return false, err
		}
		runs, hashes = append(runs, r), append(hashes, r.Study.InputHash)
	}
	equal, err := projections.EqualRuns(ctx, w.DB, s.AccountID, s.ID, hashes)
	if err != nil {
		return false, err
	}
	var own []events.SimulationRequested
	for _, r := range runs {
		same, has := equal[r.Study.InputHash]
		switch {
		case !has:
			equal[r.Study.InputHash] = projections.EqualRun{StudyID: s.ID, StudyPoint: r.Study.Point}
			own = append(own, r)
		case same.StudyID == s.ID: // a later run of that point counts too
			advanced.Shared = append(advanced.Shared, events.SharedPoint{Point: r.Study.Point, SameAs: same.StudyPoint})
		default:
			advanced.Shared = append(advanced.Shared, events.SharedPoint{Point: r.Study.Point, SimulationID: same.ID})
		}
	}
	done, err := handle.Command(ctx, w.Commands, target(s), handle.System(s.ID, "advance", fmt.Sprint(s.Next)), commands.AdvanceStudy{From: s.Next, Advanced: advanced})
	if err != nil || done.Event == nil { // another worker was first
		return err == nil, err
	}
	return true, w.requestAll(ctx, s, of, own)
}

// repair requests the runs that points before Next lack: those that were not requested
// because a worker was lost, and those that were stopped before the study was resumed.
func (w *Worker) repair(ctx context.Context, s *projections.Study, of points) error {
	runs, err := projections.StudyRuns(ctx, w.DB, s.ID)
	if err != nil {
		return err
	}
	shared, err := projections.SharedInStudy(ctx, w.DB, s.ID)
	if err != nil {
		return err
	}
	has := make(map[int64]bool, len(runs)+len(shared))
	for _, point := range shared {
		has[point] = true
	}
	for _, r := range runs { // the newest of a point is its last
		stopped := r.Status == commands.Terminated && r.EngineVersion == "" || r.Deleted != "" && !commands.Final(r.Status)
		has[r.StudyPoint] = !stopped || r.StudyRound == s.Round
	}
	var missing []events.SimulationRequested
	for point := range s.Next {
		if has[point] {
			continue
		}
		r, _, err := of.request(point)
		if err != nil {
			return err
		}
		missing = append(missing, r)
	}
	return w.requestAll(ctx, s, of, missing)
}

// requestAll requests runs of a study, and stops when its owner ends it.
func (w *Worker) requestAll(ctx context.Context, s *projections.Study, of points, runs []events.SimulationRequested) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	for _, r := range runs {
		group.Go(func() error { return w.requestOne(ctx, s, of, r) })
	}
	return group.Wait()
}

func (w *Worker) requestOne(ctx context.Context, s *projections.Study, of points, r events.SimulationRequested) error {
	id := RunID(s.ID, r.Study.Point, s.Round)
	if err := w.Hold(ctx, id, s.CorrelationID, r); err != nil {
		return err
	}
	if err := of.prepare(ctx, r.Study.Point); err != nil {
		return err
	}
	_, err := handle.Command(ctx, w.Commands, handle.Target{Stream: id, PartitionKey: s.WorkspaceID},
		origin(s).Derive(id, "request"), commands.RequestSimulation{Requested: r})
	return err
}

// origin is that of what the study's owner asked for when the study was started.
func origin(s *projections.Study) handle.Origin {
	return handle.Origin{Actor: s.CreatedBy, CorrelationID: s.CorrelationID}
}

func target(s *projections.Study) handle.Target {
	return handle.Target{Stream: s.ID, PartitionKey: s.WorkspaceID}
}
