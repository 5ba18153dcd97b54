package readapi

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"netsim/api"
	"netsim/api/report"
	"netsim/commands"
	"netsim/projections"
	"netsim/runs/studies"
	"netsim/runs/studies/analysis"
	"netsim/runs/studies/plan"
)

// pointTable reads the results of a study. Its rows are points as clients see them: the
// replicates of one are one row.
type pointTable struct {
	*API
	study    *projections.Study
	plan     *plan.Plan
	prices   *studies.Prices
	statuses []string // nil for all
}

// pointPage is how many points one query reads.
const pointPage = 1000

func (t *pointTable) rows() int { return t.plan.Points() / t.plan.Replicates() }

// read returns at most limit rows from the row first, and the row after them.
func (t *pointTable) read(ctx context.Context, first, limit int) (rows []api.StudyResult, next int, err error) {
	rows = []api.StudyResult{}
	each := t.plan.Replicates()
	for next = first; next < t.rows() && len(rows) < limit; {
		page := min(pointPage/each, t.rows()-next)
		if t.statuses == nil {
			page = min(page, limit-len(rows))
		}
		runs, err := projections.PointRuns(ctx, t.DB, t.study.ID, int64(next*each), int64(page*each))
		if err != nil {
			return nil, 0, err
		}
		for end := next + page; next < end && len(rows) < limit; next++ {
			of := make([]*projections.PointRun, each)
			for k := range of {
				if len(runs) > 0 && runs[0].Point == int64(next*each+k) {
					of[k], runs = &runs[0], runs[1:]
				}
			}
			row := t.row(next, of)
			if t.statuses != nil && !slices.Contains(t.statuses, string(row.Status)) {
				continue
			}
			price, err := t.prices.Of(next * each)
			if err != nil {
				return nil, 0, err
			}
			fabric := fabricView(&price.Bill, price.Parts)
			if t.study.Servers {
				fabric.Servers = analysis.CountParts(price.Parts.Servers)
			}
			row.Fabric, row.Warnings = &fabric, report.Of(price.Warnings).Warnings
			rows = append(rows, row)
		}
	}
	return rows, next, nil
}

// row returns the row of the runs of a point, nil for one that is waiting.
func (t *pointTable) row(number int, runs []*projections.PointRun) api.StudyResult {
	row := api.StudyResult{Point: int64(number), Inputs: inputsOf(t.plan, number*len(runs), plan.Workload, plan.Design, plan.Seed)}
	if len(runs) == 1 {
		t.fill(&row, runs[0])
		return row
	}
	all := make([]api.StudyResult, len(runs))
	for k, run := range runs {
		all[k] = row
		t.fill(&all[k], run)
	}
	view, median := replicates(all)
	if int64(len(all)) > view.Completed {
		median = slices.MinFunc(all, func(a, b api.StudyResult) int { return cmp.Compare(progressOf(a.Status), progressOf(b.Status)) })
		median.SimulationID = ""
	}
	median.Replicates = view
	return median
}

// progressOf orders statuses by how far they are from a result.
func progressOf(status api.StudyResultStatus) int {
	return slices.Index([]string{
		waitingPoint, commands.Validating, commands.Provisioning, commands.Running,
		commands.Invalid, commands.Failed, commands.Terminated, commands.Completed,
	}, string(status))
}

// replicates returns the times of rows that differ in their seeds only, and the row with the
// median of those that are completed.
func replicates(rows []api.StudyResult) (view *api.StudyReplicates, median api.StudyResult) {
	view = &api.StudyReplicates{}
	var completed []api.StudyResult
	for i := range rows {
		run := api.StudyReplicate{Status: api.StudyReplicateStatus(rows[i].Status), SimulationID: rows[i].SimulationID}
		if f := rows[i].Figures; f != nil {
			run.SimulatedTimePs = f.SimulatedTimePs
			completed = append(completed, rows[i])
		}
		view.Runs = append(view.Runs, run)
	}
	slices.SortStableFunc(completed, func(a, b api.StudyResult) int {
		return cmp.Compare(a.Figures.SimulatedTimePs, b.Figures.SimulatedTimePs)
	})
	if n := len(completed); n > 0 {
		median = completed[(n-1)/2]
		view.Completed = int64(n)
		view.LeastTimePs, view.MedianTimePs, view.MostTimePs = completed[0].Figures.SimulatedTimePs, median.Figures.SimulatedTimePs, completed[n-1].Figures.SimulatedTimePs
	}
	return view, median
}

// fill fills in what a run says. A deleted one leaves its figures.
func (t *pointTable) fill(row *api.StudyResult, run *projections.PointRun) {
	row.Status = waitingPoint
	if run == nil {
		return
	}
	row.Status, row.Shared, row.FailureReason = api.StudyResultStatus(run.Status), run.Shared, run.FailureReason
	if run.Deleted == "" {
		row.SimulationID = run.ID
	}
	if run.DominationReason != "" && run.Status == commands.Terminated {
		by := run.DominatedBy / int64(t.plan.Replicates())
		row.StoppedBy, row.Reason = &by, run.DominationReason
	}
	if f := &run.Figures; run.Status == commands.Completed && f.EngineVersion != "" {
		row.Figures = &api.StudyFigures{
			Ranks: run.Ranks, SimulatedTimePs: f.TimePs, GoodputBps: f.GoodputBps,
			BusiestTier: f.BusiestTier, LinkUtilization: part(f.MeanLinkPpm),
			Bottleneck: f.Bottleneck, BottleneckShare: part(f.BottleneckPpm), ExposedShare: part(f.ExposedPpm),
			UnfinishedRanks: run.UnfinishedRanks,
		}
	}
}

// part returns a part in millionths as a number.
func part(ppm int64) float64 { return float64(ppm) / 1e6 }

// inputsOf returns the values of a point as JSON, in the order of the axes: of those of some
// kinds.
func inputsOf(p *plan.Plan, point int, kinds ...string) json.RawMessage {
	b := []byte{'{'}
	for i, value := range p.Values(point) {
		if !slices.Contains(kinds, plan.Kind(p.Axes[i].Field)) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, p.Axes[i].Field) // plain ASCII
		b = append(append(b, ':'), value...)
	}
	return append(b, '}')
}

// cellOf returns a value of an axis as a cell: a text without its quotes.
func cellOf(value string) string {
	var text string
	if json.Unmarshal([]byte(value), &text) == nil {
		return text
	}
	return value
}
