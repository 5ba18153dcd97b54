package studies

import (
	"context"

	"netsim/events"
	"netsim/projections"
	"netsim/runs/studies/plan"
)

// Window is how many runs of a study are unfinished at a time.
const Window = window

// Forecast is what a study would do if it started now.
type Forecast struct {
	Points int64
	Shared int64           // points that would take the result of an equal run
	Runs   map[int64]int64 // of the others, by number of ranks
}

// Forecast returns what a study would do if it started now. It changes nothing.
func (w *Worker) Forecast(ctx context.Context, started events.StudyStarted) (Forecast, error) {
	s := toStart(started)
	f := Forecast{Points: s.Points, Runs: map[int64]int64{}}
	p, err := PlanOf(&s)
	if err != nil {
		return f, err
	}
	of, err := w.pointsOf(ctx, &s, p)
	if err != nil {
		return f, err
	}
	ranks := map[string]int64{} // by input hash
	var hashes []string
	err = p.Each(ctx, func(point int) error {
		r, n, err := of.request(int64(point))
		if err != nil {
			return err
		}
		if hash := r.Study.InputHash; ranks[hash] == 0 {
			ranks[hash] = n
			hashes = append(hashes, hash)
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	equal, err := projections.EqualRuns(ctx, w.DB, s.AccountID, s.ID, hashes)
	if err != nil {
		return f, err
	}
	f.Shared = s.Points
	for hash, n := range ranks {
		if _, has := equal[hash]; !has {
			f.Runs[n]++
			f.Shared--
		}
	}
	return f, nil
}

// Sources reads what a study of a configuration and its axes would name if it started now.
func (w *Worker) Sources(ctx context.Context, started events.StudyStarted) (*plan.Sources, error) {
	s := toStart(started)
	p, err := PlanOf(&s)
	if err != nil {
		return nil, err
	}
	return SourcesOf(ctx, w.DB, &s, p)
}

// toStart returns a study that has not started.
func toStart(started events.StudyStarted) projections.Study {
	return projections.StartedStudy(&events.Event{Frame: events.Frame{Stream: events.NewID(events.StudyPrefix)}, Data: started})
}
