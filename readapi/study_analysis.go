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
	"netsim/runs/studies/plan"
)

// GetStudyAnalysis implements GET /studies/{study_id}/analysis.
func (a *API) GetStudyAnalysis(ctx context.Context, r api.GetStudyAnalysisRequestObject) (api.GetStudyAnalysisResponseObject, error) {
	view, err := a.studyAnalysis(ctx, r.StudyID)
	if err != nil {
		return nil, err
	}
	if r.Params.Format == api.GetStudyAnalysisParamsFormatCsv {
		table, err := analysisTable(view.Workloads)
		return api.GetStudyAnalysis200TextCsvResponse{Body: bytes.NewReader(table)}, err
	}
	return api.GetStudyAnalysis200JSONResponse(*view), nil
}

// GetStudyAnalysisCsv implements GET /studies/{study_id}/analysis.csv.
func (a *API) GetStudyAnalysisCsv(ctx context.Context, r api.GetStudyAnalysisCsvRequestObject) (api.GetStudyAnalysisCsvResponseObject, error) {
	view, err := a.studyAnalysis(ctx, r.StudyID)
	if err != nil {
		return nil, err
	}
	table, err := analysisTable(view.Workloads)
	return api.GetStudyAnalysisCsv200TextCsvResponse{Body: bytes.NewReader(table)}, err
}

// studyAnalysis returns the analysis of the points that are completed.
func (a *API) studyAnalysis(ctx context.Context, study string) (*api.StudyAnalysis, error) {
	t, err := a.pointTable(ctx, study)
	if err != nil {
		return nil, err
	}
	rows, _, err := t.read(ctx, 0, t.rows())
	if err != nil {
		return nil, err
	}
	all, err := t.completed(rows)
	if err != nil {
		return nil, err
	}
	workloads, seeds := t.competitors(rows, all)
	view := api.StudyAnalysis{
		StudyID: t.study.ID, Points: int64(t.rows()), Completed: int64(len(all)),
		PriceList: priceListView(&t.prices.List),
		Front:     []api.StudyFrontPoint{}, Axes: []api.StudyAxisAnalysis{}, Workloads: []api.StudyWorkload{},
	}
	for _, w := range workloads {
		of := api.StudyWorkload{Inputs: w.inputs, Completed: w.completed, Front: []int64{}, Axes: []api.StudyAxisAnalysis{}}
		for _, number := range analysis.Front(w.points) {
			of.Front = append(of.Front, int64(number))
			row := &rows[number]
			view.Front = append(view.Front, api.StudyFrontPoint{
				Point: row.Point, Inputs: row.Inputs, SimulationID: row.SimulationID, SimulatedTimePs: row.Figures.SimulatedTimePs,
				Replicates: seeds[number], Fabric: *row.Fabric, Warnings: row.Warnings,
			})
		}
		for i, axis := range t.plan.Axes {
			if plan.Kind(axis.Field) == plan.Design {
				of.Axes = append(of.Axes, t.axisView(i, w.points, rows))
			}
		}
		view.Workloads = append(view.Workloads, of)
	}
	for i, axis := range t.plan.Axes {
		of := t.axisView(i, all, rows)
		if plan.Kind(axis.Field) != plan.Design || t.severalWorkloads() {
			of.Time, of.Price = sensitivityView(axis.Values, analysis.Time(nil, i, len(axis.Values))), sensitivityView(axis.Values, analysis.Price(nil, i, len(axis.Values)))
		} else if len(workloads) > 0 {
			of = t.axisView(i, workloads[0].points, rows)
		}
		view.Axes = append(view.Axes, of)
	}
	return &view, nil
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

func sensitivityView(values []string, s analysis.Sensitivity) api.StudySensitivity {
	view := api.StudySensitivity{Groups: int64(s.Groups), MeanRatio: s.MeanRatio, MaxRatio: s.MaxRatio, Values: make([]api.StudyValue, len(values))}
	for i, v := range s.Values {
		view.Values[i] = api.StudyValue{Value: json.RawMessage(values[i]), Groups: int64(v.Groups), MeanRatio: v.Mean, Best: int64(v.Best)}
	}
	return view
}

// analysisTable returns a row for each value of each axis of each workload.
func analysisTable(workloads []api.StudyWorkload) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	lines := [][]string{{
		"field", "value", "timeGroups", "timeMeanRatio", "timeBest", "timeAxisMeanRatio", "timeAxisMaxRatio",
		"priceGroups", "priceMeanRatio", "priceBest", "priceAxisMeanRatio", "priceAxisMaxRatio", "workload",
	}}
	for _, of := range workloads {
		for i := range of.Axes {
			a := &of.Axes[i]
			for k := range a.Time.Values {
				line := []string{a.Field, cellOf(string(a.Time.Values[k].Value))}
				for _, s := range []*api.StudySensitivity{&a.Time, &a.Price} {
					v := &s.Values[k]
					line = append(line, strconv.FormatInt(v.Groups, 10), ratioCell(v.MeanRatio), strconv.FormatInt(v.Best, 10), ratioCell(s.MeanRatio), ratioCell(s.MaxRatio))
				}
				lines = append(lines, append(line, string(of.Inputs)))
			}
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
