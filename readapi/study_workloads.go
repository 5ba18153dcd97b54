package readapi

import (
	"encoding/json"
	"fmt"
	"slices"

	"netsim/api"
	"netsim/runs/studies/analysis"
	"netsim/runs/studies/plan"
	"netsim/simulator/collective"
	"netsim/simulator/document"
)

// workload has the completed points of one workload. They compete with one another, and
// with no point of another workload.
type workload struct {
	inputs    json.RawMessage
	completed int64
	points    []analysis.Point // those that differ in their seeds only are one, with the median of their times
}

// completed returns the points of all rows that have figures of a whole workload.
func (t *pointTable) completed(rows []api.StudyResult) (points []analysis.Point, err error) {
	for i := range rows {
		if rows[i].Figures == nil || rows[i].Figures.UnfinishedRanks > 0 {
			continue
		}
		number := int(rows[i].Point) * t.plan.Replicates()
		price, err := t.prices.Of(number)
		if err != nil {
			return nil, err
		}
		points = append(points, analysis.Point{
			Number: int(rows[i].Point), At: t.plan.At(number), TimePs: rows[i].Figures.SimulatedTimePs, Price: price.Price,
		})
	}
	return points, nil
}

// competitors returns the workloads, and by their numbers the replicates of points. Of
// points with an axis of seeds, only those count whose seeds are all completed. rows are
// all rows of the study.
func (t *pointTable) competitors(rows []api.StudyResult, completed []analysis.Point) (list []workload, seeds map[int]*api.StudyReplicates) {
	seeds = map[int]*api.StudyReplicates{}
	seedAxis := slices.IndexFunc(t.plan.Axes, func(a plan.Axis) bool { return plan.Kind(a.Field) == plan.Seed })
	medians := t.medians(rows, seedAxis)
	at := map[string]int{} // in the list, by workload
	for _, p := range completed {
		number := p.Number * t.plan.Replicates()
		key := t.plan.Key(number, plan.Workload)
		k, known := at[key]
		if !known {
			k = len(list)
			at[key], list = k, append(list, workload{inputs: inputsOf(t.plan, number, plan.Workload)})
		}
		list[k].completed++
		seeds[p.Number] = rows[p.Number].Replicates
		if seedAxis >= 0 {
			if seeds[p.Number] = medians[p.Number]; seeds[p.Number] == nil {
				continue
			}
			p.At = slices.Clone(p.At)
			p.At[seedAxis] = 0
		}
		list[k].points = append(list[k].points, p)
	}
	return list, seeds
}

// medians returns, by the number of the row with the median time, the rows that differ in
// their seeds only, if all of them are completed.
func (t *pointTable) medians(rows []api.StudyResult, seedAxis int) map[int]*api.StudyReplicates {
	if seedAxis < 0 {
		return nil
	}
	groups := map[string][]api.StudyResult{}
	for i := range rows {
		key := t.plan.Key(i, plan.Workload, plan.Design)
		groups[key] = append(groups[key], rows[i])
	}
	medians := map[int]*api.StudyReplicates{}
	for _, group := range groups {
		if view, median := replicates(group); int(view.Completed) == len(group) {
			medians[int(median.Point)] = view
		}
	}
	return medians
}

// severalWorkloads reports whether points of the study have different workloads.
func (t *pointTable) severalWorkloads() bool {
	return slices.ContainsFunc(t.plan.Axes, func(a plan.Axis) bool { return plan.Kind(a.Field) == plan.Workload && len(a.Values) > 1 })
}

// axisView returns how much an axis changes the time and the price of points.
func (t *pointTable) axisView(axis int, points []analysis.Point, rows []api.StudyResult) api.StudyAxisAnalysis {
	a := t.plan.Axes[axis]
	time, price := analysis.Time(points, axis, len(a.Values)), analysis.Price(points, axis, len(a.Values))
	view := api.StudyAxisAnalysis{
		Field: a.Field, Kind: api.StudyAxisAnalysisKind(plan.Kind(a.Field)),
		Time: sensitivityView(a.Values, time), Price: sensitivityView(a.Values, price),
	}
	if time.Groups > 0 && time.MaxRatio == 1 {
		view.NoEffect = t.noEffect(axis, points, rows, price.MaxRatio > 1)
	}
	return view
}

// noEffect says why an axis does not change the time of points.
func (t *pointTable) noEffect(axis int, points []analysis.Point, rows []api.StudyResult, dearer bool) string {
	named, capped := isAlgorithm(t.plan.Axes[axis].Field), true
	for i := range points {
		named = named && t.prices.NamesAlgorithms(points[i].Number*t.plan.Replicates())
		capped = capped && slices.ContainsFunc(rows[points[i].Number].Warnings, func(f api.Finding) bool { return f.Code == "SWITCH_OVERSUBSCRIBED" })
	}
	switch {
	case named:
		return "the traceset names the algorithm of each of its collectives, which takes precedence over the parameter"
	case capped:
		return "all of these points have switches whose ports come to more than their switching capacity, which therefore limits them; see the warnings of the points, and raise SwitchingCapacity"
	case dearer:
		return fmt.Sprintf("the times of the %d completed points do not depend on it, but prices do", len(points))
	}
	return fmt.Sprintf("neither the times nor the prices of the %d completed points depend on it", len(points))
}

// isAlgorithm reports whether a field is the algorithm of an operation in an application.
func isAlgorithm(field string) bool {
	for _, step := range plan.FieldOf(plan.Axis{Field: field}) {
		for _, o := range collective.Matrix() {
			if step.Member == document.AlgorithmParameter(o.OperationType) {
				return true
			}
		}
	}
	return false
}
