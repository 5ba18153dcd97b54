package readapi

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"netsim/api"
	"netsim/commands"
	"netsim/projections"
	"netsim/runs/studies"
	"netsim/runs/studies/plan"
)

// waitingPoint is the status of a point without a simulation.
const waitingPoint = "waiting"

// GetStudyResults implements GET /studies/{study_id}/results.
func (a *API) GetStudyResults(ctx context.Context, r api.GetStudyResultsRequestObject) (api.GetStudyResultsResponseObject, error) {
	t, err := a.pointTable(ctx, r.StudyID)
	if err != nil {
		return nil, err
	}
	t.statuses = known(r.Params.Status, waitingPoint, commands.Validating, commands.Provisioning,
		commands.Running, commands.Completed, commands.Failed, commands.Terminated, commands.Invalid)
	l, err := a.listing(ctx, r, 100)
	if err != nil {
		return nil, err
	}
	if r.Params.Format == api.GetStudyResultsParamsFormatCsv || r.Params.Format == api.GetStudyResultsParamsFormatParquet {
		return t.table(ctx, r.Params.Format)
	}
	first := 0
	if l.page.After != nil {
		if first, err = strconv.Atoi(l.page.After[0]); err != nil || len(l.page.After) != 1 || first < 0 {
			return nil, errCursor()
		}
	}
	rows, next, err := t.read(ctx, first, l.page.Limit)
	if err != nil {
		return nil, err
	}
	var after []string
	if next < t.plan.Points() {
		after = []string{strconv.Itoa(next)}
	}
	return api.GetStudyResults200JSONResponse{StudyID: t.study.ID, Results: rows, Pagination: l.pagination(len(rows), after)}, nil
}

// pointTable reads the results of a study.
type pointTable struct {
	*API
	study    *projections.Study
	plan     *plan.Plan
	prices   *studies.Prices
	statuses []string // nil for all
}

// pointPage is how many points one query reads.
const pointPage = 1000

// read returns at most limit rows from the point first, and the point after them.
func (t *pointTable) read(ctx context.Context, first, limit int) (rows []api.StudyResult, next int, err error) {
	rows = []api.StudyResult{}
	for next = first; next < t.plan.Points() && len(rows) < limit; {
		page := min(pointPage, t.plan.Points()-next)
		if t.statuses == nil {
			page = min(page, limit-len(rows))
		}
		runs, err := projections.PointRuns(ctx, t.DB, t.study.ID, int64(next), int64(page))
		if err != nil {
			return nil, 0, err
		}
		for end := next + page; next < end && len(rows) < limit; next++ {
			var run *projections.PointRun
			if len(runs) > 0 && runs[0].Point == int64(next) {
				run, runs = &runs[0], runs[1:]
			}
			row := t.row(next, run)
			if t.statuses != nil && !slices.Contains(t.statuses, string(row.Status)) {
				continue
			}
			price, err := t.prices.Of(next)
			if err != nil {
				return nil, 0, err
			}
			fabric := fabricView(&price.Bill, price.Parts)
			row.Fabric = &fabric
			rows = append(rows, row)
		}
	}
	return rows, next, nil
}

func (t *pointTable) row(point int, run *projections.PointRun) api.StudyResult {
	row := api.StudyResult{Point: int64(point), Inputs: t.inputs(point), Status: waitingPoint}
	if run == nil {
		return row
	}
	row.Status, row.SimulationID, row.Shared = api.StudyResultStatus(run.Status), run.ID, run.Shared
	row.FailureReason = run.FailureReason
	if f := &run.Figures; run.Status == commands.Completed && f.EngineVersion != "" {
		row.Figures = &api.StudyFigures{
			Ranks: run.Ranks, SimulatedTimePs: f.TimePs, GoodputBps: f.GoodputBps,
			BusiestTier: f.BusiestTier, LinkUtilization: part(f.MeanLinkPpm),
			Bottleneck: f.Bottleneck, BottleneckShare: part(f.BottleneckPpm), ExposedShare: part(f.ExposedPpm),
		}
	}
	return row
}

// part returns a part in millionths as a number.
func part(ppm int64) float64 { return float64(ppm) / 1e6 }

// inputs returns the values of a point as JSON, in the order of the axes.
func (t *pointTable) inputs(point int) json.RawMessage {
	b := []byte{'{'}
	for i, value := range t.plan.Values(point) {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, t.plan.Axes[i].Field) // plain ASCII
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
