package studies

import (
	"context"
	"fmt"
	"slices"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/runs/studies/analysis"
	"netsim/runs/studies/plan"
)

// rivals are the points of a study as competitors. Points that differ in their seeds only
// are one competitor, with the median of their times. Competitors of different workloads
// are not compared.
type rivals struct {
	prices   *Prices
	of       []int    // by point, its competitor
	points   [][]int  // by competitor
	workload []string // by competitor
}

func rivalsOf(p *plan.Plan, prices *Prices) *rivals {
	r := &rivals{prices: prices, of: make([]int, p.Points())}
	known := map[string]int{}
	for point := range r.of {
		key := p.Key(point, plan.Workload, plan.Design)
		k, has := known[key]
		if !has {
			k = len(r.points)
			known[key] = k
			r.points, r.workload = append(r.points, nil), append(r.workload, p.Key(point, plan.Workload))
		}
		r.of[point], r.points[k] = k, append(r.points[k], point)
	}
	return r
}

// rival is a competitor all of whose points are completed.
type rival struct {
	number int
	median projections.PointTime
}

// completed returns the competitors that are completed, the fastest first.
func (r *rivals) completed(times map[int64]projections.PointTime) (list []rival) {
	for number, points := range r.points {
		all := make([]projections.PointTime, 0, len(points))
		for _, point := range points {
			if t, has := times[int64(point)]; has {
				all = append(all, t)
			}
		}
		if len(all) == len(points) {
			slices.SortStableFunc(all, func(a, b projections.PointTime) int { return int(a.TimePs - b.TimePs) })
			list = append(list, rival{number, all[(len(all)-1)/2]})
		}
	}
	slices.SortStableFunc(list, func(a, b rival) int { return int(a.median.TimePs - b.median.TimePs) })
	return list
}

// atLeast returns the time in ps that a competitor takes at least: the median, if its runs
// took no more than they have taken so far.
func (r *rivals) atLeast(number int, times map[int64]projections.PointTime, soFar map[int64]int64) int64 {
	bounds := make([]int64, 0, len(r.points[number]))
	for _, point := range r.points[number] {
		bounds = append(bounds, max(times[int64(point)].TimePs, soFar[int64(point)]))
	}
	slices.Sort(bounds)
	return bounds[(len(bounds)-1)/2]
}

// stopDominated terminates runs whose points can no longer be on the Pareto front of time
// and price: a completed point of the same workload took less simulated time than the run
// has already taken, on a fabric that costs no more. The simulated time of a run only grows,
// so nothing is guessed. open are the unfinished runs of the study.
func (w *Worker) stopDominated(ctx context.Context, s *projections.Study, all *rivals, open []projections.StudyRun) error {
	soFar := map[int64]int64{}
	for _, r := range open {
		if r.Status == commands.Running && r.Deleted == "" && r.SimulatedTimeNs > 0 {
			soFar[r.StudyPoint] = r.SimulatedTimeNs * 1000
		}
	}
	if len(soFar) == 0 {
		return nil
	}
	known, err := projections.PointTimes(ctx, w.DB, s.ID)
	if err != nil || len(known) == 0 {
		return err
	}
	times := make(map[int64]projections.PointTime, len(known))
	for _, t := range known {
		times[t.Point] = t
	}
	completed := all.completed(times)
	for _, r := range open {
		if soFar[r.StudyPoint] == 0 {
			continue
		}
		number := all.of[r.StudyPoint]
		by, err := all.dominating(number, all.atLeast(number, times, soFar), completed)
		if err != nil {
			return err
		}
		if by.Reason == "" {
			continue
		}
		_, err = handle.Command(ctx, w.Commands, handle.Target{Stream: r.ID, PartitionKey: r.WorkspaceID},
			handle.System(r.ID, "dominated"), commands.TerminateSimulation{ID: r.ID, By: events.System, Dominated: by})
		switch fault.CodeOf(err) {
		case fault.Conflict, fault.NotFound, fault.NotImplemented: // it has ended, or goes on
		default:
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// dominating returns by which competitor one is dominated that takes that time at least, and
// the zero value for none.
func (r *rivals) dominating(number int, atLeast int64, completed []rival) (by events.Domination, err error) {
	own, err := r.prices.Of(r.points[number][0])
	if err != nil {
		return by, err
	}
	for _, c := range completed {
		if c.median.TimePs >= atLeast {
			return by, nil
		}
		if r.workload[c.number] != r.workload[number] {
			continue
		}
		other, err := r.prices.Of(int(c.median.Point))
		if err != nil {
			return by, err
		}
		if other.Price.Cmp(own.Price) > 0 {
			continue
		}
		what := "this run"
		if len(r.points[number]) > 1 {
			what = "the median of this point"
		}
		return events.Domination{
			Point: c.median.Point, SimulationID: c.median.SimulationID,
			Reason: fmt.Sprintf("point %d took %s of simulated time for a price of %s %s; %s takes %s at least, for %s %s",
				c.median.Point/int64(r.prices.plan.Replicates()), time.Duration(c.median.TimePs/1000), analysis.DecimalText(other.Price), r.prices.List.Currency,
				what, time.Duration(atLeast/1000), analysis.DecimalText(own.Price), r.prices.List.Currency),
		}, nil
	}
	return by, nil
}
