package readapi

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"netsim/api"
	"netsim/infra/parquetfile"
	"netsim/runs/studies/analysis"
)

// GetStudyResultsCsv implements GET /studies/{study_id}/results.csv.
func (a *API) GetStudyResultsCsv(ctx context.Context, r api.GetStudyResultsCsvRequestObject) (api.GetStudyResultsCsvResponseObject, error) {
	body, err := a.resultTable(ctx, r.StudyID, r.Params.Status, (*pointTable).writeCSV)
	return api.GetStudyResultsCsv200TextCsvResponse{Body: body}, err
}

// GetStudyResultsParquet implements GET /studies/{study_id}/results.parquet.
func (a *API) GetStudyResultsParquet(ctx context.Context, r api.GetStudyResultsParquetRequestObject) (api.GetStudyResultsParquetResponseObject, error) {
	body, err := a.resultTable(ctx, r.StudyID, r.Params.Status, (*pointTable).writeParquet)
	return api.GetStudyResultsParquet200ApplicationVndApacheParquetResponse{Body: body}, err
}

// writeTable writes the rows of a table.
type writeTable = func(t *pointTable, to io.Writer, rows [][]string) error

// resultTable returns all results of a study, or those with the statuses, as write has them.
func (a *API) resultTable(ctx context.Context, study, status string, write writeTable) (io.Reader, error) {
	t, err := a.pointTable(ctx, study)
	if err != nil {
		return nil, err
	}
	rows, _, err := t.read(ctx, 0, t.rows())
	if err != nil {
		return nil, err
	}
	optimal, err := t.optimal(rows) // of all points, whatever is asked for
	if err != nil {
		return nil, err
	}
	if statuses := pointStatuses(status); statuses != nil {
		rows = slices.DeleteFunc(rows, func(r api.StudyResult) bool { return !slices.Contains(statuses, string(r.Status)) })
	}
	var out bytes.Buffer
	if err := write(t, &out, api.Each(rows, func(r *api.StudyResult) []string { return t.cells(r, optimal) })); err != nil {
		return nil, fmt.Errorf("write the results of %s: %w", study, err)
	}
	return &out, nil
}

func (t *pointTable) writeCSV(to io.Writer, rows [][]string) error {
	columns := t.columns()
	header := api.Each(columns, func(c *parquetfile.Column) string { return c.Name })
	return csv.NewWriter(to).WriteAll(append([][]string{header}, rows...))
}

func (t *pointTable) writeParquet(to io.Writer, rows [][]string) error {
	w := parquetfile.NewRows(to, "results", t.columns())
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Close()
}

// optimal says which of the completed points are on the Pareto front of their workload.
func (t *pointTable) optimal(rows []api.StudyResult) (map[int]bool, error) {
	points, err := t.completed(rows)
	if err != nil {
		return nil, err
	}
	optimal := map[int]bool{}
	for _, p := range points {
		optimal[p.Number] = false
	}
	workloads, _ := t.competitors(rows, points)
	for _, w := range workloads {
		for _, number := range analysis.Front(w.points) {
			optimal[number] = true
		}
	}
	return optimal, nil
}

// columns returns the columns of the table.
func (t *pointTable) columns() []parquetfile.Column {
	columns := []parquetfile.Column{{Name: "point", Type: parquetfile.Integer}}
	for _, a := range t.plan.Axes {
		columns = append(columns, parquetfile.Column{Name: a.Field, Type: parquetfile.TypeOf(a.Values)})
	}
	columns = append(columns, parquetfile.Column{Name: "status"}, parquetfile.Column{Name: "simulationId"}, parquetfile.Column{Name: "shared", Type: parquetfile.Boolean})
	columns = append(append(columns, figureColumns()...), fabricColumns()...)
	columns = append(columns, parquetfile.Column{Name: "paretoOptimal", Type: parquetfile.Boolean}, parquetfile.Column{Name: "failureReason"},
		parquetfile.Column{Name: "replicates", Type: parquetfile.Integer}, parquetfile.Column{Name: "leastTimePs", Type: parquetfile.Integer}, parquetfile.Column{Name: "mostTimePs", Type: parquetfile.Integer},
		parquetfile.Column{Name: "stoppedBy", Type: parquetfile.Integer}, parquetfile.Column{Name: "reason"}, parquetfile.Column{Name: "warnings"})
	for i := range columns {
		columns[i].Nullable = true
	}
	return columns
}

// figureColumns are the columns for the figures of a row.
func figureColumns() []parquetfile.Column {
	return []parquetfile.Column{
		{Name: "ranks", Type: parquetfile.Integer}, {Name: "simulatedTimePs", Type: parquetfile.Integer}, {Name: "goodputBps", Type: parquetfile.Integer},
		{Name: "busiestTier"}, {Name: "linkUtilization", Type: parquetfile.Number},
		{Name: "bottleneck"}, {Name: "bottleneckShare", Type: parquetfile.Number}, {Name: "exposedShare", Type: parquetfile.Number},
	}
}

// fabricColumns are those for its fabric.
func fabricColumns() []parquetfile.Column {
	return []parquetfile.Column{
		{Name: "price", Type: parquetfile.Number}, {Name: "powerWatts", Type: parquetfile.Number},
		{Name: "switches", Type: parquetfile.Integer}, {Name: "nics", Type: parquetfile.Integer}, {Name: "links", Type: parquetfile.Integer},
		{Name: "servers", Type: parquetfile.Integer},
	}
}

// cells returns the cells of a row. A text value of an axis is without its quotes. optimal
// says which of the completed points with a price are on the front.
func (t *pointTable) cells(r *api.StudyResult, optimal map[int]bool) []string {
	cells := []string{strconv.FormatInt(r.Point, 10)}
	for _, value := range t.plan.Values(int(r.Point) * t.plan.Replicates()) {
		cells = append(cells, cellOf(value))
	}
	cells = append(cells, string(r.Status), r.SimulationID, strconv.FormatBool(r.Shared))
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	if f := r.Figures; f != nil {
		number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
		cells = append(cells, count(f.Ranks), count(f.SimulatedTimePs), count(f.GoodputBps),
			f.BusiestTier, number(f.LinkUtilization), f.Bottleneck, number(f.BottleneckShare), number(f.ExposedShare))
	} else {
		cells = append(cells, make([]string, len(figureColumns()))...)
	}
	if f := r.Fabric; f != nil {
		cells = append(cells, f.Price, f.PowerWatts, count(f.Switches), count(f.Nics), count(f.Links), positive(f.Servers))
	} else {
		cells = append(cells, make([]string, len(fabricColumns()))...)
	}
	best := ""
	if on, completed := optimal[int(r.Point)]; completed {
		best = strconv.FormatBool(on)
	}
	cells = append(cells, best, r.FailureReason)
	if v := r.Replicates; v != nil {
		cells = append(cells, count(v.Completed), positive(v.LeastTimePs), positive(v.MostTimePs))
	} else {
		cells = append(cells, "", "", "")
	}
	by := ""
	if r.StoppedBy != nil {
		by = count(*r.StoppedBy)
	}
	codes := api.Each(r.Warnings, func(f *api.Finding) string { return f.Code })
	return append(cells, by, r.Reason, strings.Join(slices.Compact(codes), " "))
}

// positive returns a number as a cell, empty for 0.
func positive(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
