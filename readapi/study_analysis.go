package readapi

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"

	"netsim/api"
	"netsim/runs/studies"
	"netsim/runs/studies/analysis"
)

// GetStudyAnalysis implements GET /studies/{study_id}/analysis.
func (a *API) GetStudyAnalysis(ctx context.Context, r api.GetStudyAnalysisRequestObject) (api.GetStudyAnalysisResponseObject, error) {
	t, err := a.pointTable(ctx, r.StudyID)
	if err != nil {
		return nil, err
	}
	rows, _, err := t.read(ctx, 0, t.plan.Points())
	if err != nil {
		return nil, err
	}
	points, err := t.completed(rows)
	if err != nil {
		return nil, err
	}
	view := api.StudyAnalysis{
		StudyID: t.study.ID, Points: int64(t.plan.Points()), Completed: int64(len(points)),
		PriceList: api.FabricPriceList{Version: t.prices.List.Version, Currency: t.prices.List.Currency, Assumption: t.prices.List.Assumption},
		Front:     []api.StudyFrontPoint{}, Axes: []api.StudyAxisAnalysis{},
	}
	for _, number := range analysis.Front(points) {
		row := &rows[number]
		view.Front = append(view.Front, api.StudyFrontPoint{
			Point: row.Point, Inputs: row.Inputs, SimulationID: row.SimulationID, SimulatedTimePs: row.Figures.SimulatedTimePs, Fabric: *row.Fabric,
		})
	}
	for i, axis := range t.plan.Axes {
		view.Axes = append(view.Axes, api.StudyAxisAnalysis{
			Field: axis.Field,
			Time:  sensitivityView(axis.Values, analysis.Time(points, i, len(axis.Values))),
			Price: sensitivityView(axis.Values, analysis.Price(points, i, len(axis.Values))),
		})
	}
	if r.Params.Format == api.GetStudyAnalysisParamsFormatCsv {
		table, err := analysisTable(view.Axes)
		return api.GetStudyAnalysis200TextCsvResponse{Body: bytes.NewReader(table)}, err
	}
	return api.GetStudyAnalysis200JSONResponse(view), nil
}

// pointTable returns the table of a study's points, of every status.
func (a *API) pointTable(ctx context.Context, study string) (*pointTable, error) {
	s, err := a.StudyRow(ctx, study)
	if err != nil {
		return nil, err
	}
	p, err := studies.PlanOf(&s)
	if err != nil {
		return nil, err
	}
	prices, err := studies.PricesOf(ctx, a.DB, &s, p)
	return &pointTable{API: a, study: &s, plan: p, prices: prices}, err
}

// completed returns the completed points of the rows that have figures.
func (t *pointTable) completed(rows []api.StudyResult) (points []analysis.Point, err error) {
	for i := range rows {
		if rows[i].Figures == nil {
			continue
		}
		number := int(rows[i].Point)
		p := analysis.Point{Number: number, At: t.plan.At(number), TimePs: rows[i].Figures.SimulatedTimePs}
		price, err := t.prices.Of(number)
		if err != nil {
			return nil, err
		}
		p.Price = price.Price
		points = append(points, p)
	}
	return points, nil
}

func sensitivityView(values []string, s analysis.Sensitivity) api.StudySensitivity {
	view := api.StudySensitivity{Groups: int64(s.Groups), MeanRatio: s.MeanRatio, MaxRatio: s.MaxRatio, Values: make([]api.StudyValue, len(values))}
	for i, v := range s.Values {
		view.Values[i] = api.StudyValue{Value: json.RawMessage(values[i]), Groups: int64(v.Groups), MeanRatio: v.Mean, Best: int64(v.Best)}
	}
	return view
}

// analysisTable returns a row for each value of each axis.
func analysisTable(axes []api.StudyAxisAnalysis) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	lines := [][]string{{
		"field", "value", "timeGroups", "timeMeanRatio", "timeBest", "timeAxisMeanRatio", "timeAxisMaxRatio",
		"priceGroups", "priceMeanRatio", "priceBest", "priceAxisMeanRatio", "priceAxisMaxRatio",
	}}
	for i := range axes {
		for k := range axes[i].Time.Values {
			line := []string{axes[i].Field, cellOf(string(axes[i].Time.Values[k].Value))}
			for _, s := range []*api.StudySensitivity{&axes[i].Time, &axes[i].Price} {
				v := &s.Values[k]
				line = append(line, strconv.FormatInt(v.Groups, 10), ratioCell(v.MeanRatio), strconv.FormatInt(v.Best, 10), ratioCell(s.MeanRatio), ratioCell(s.MaxRatio))
			}
			lines = append(lines, line)
		}
	}
	if err := w.WriteAll(lines); err != nil {
		return nil, fmt.Errorf("write the analysis: %w", err)
	}
	return out.Bytes(), nil
}

// ratioCell returns a ratio as a cell, empty without groups.
func ratioCell(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
