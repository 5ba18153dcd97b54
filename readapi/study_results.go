package readapi

import (
	"context"
	"strconv"

	"netsim/api"
	"netsim/commands"
)

// waitingPoint is the status of a point without a simulation.
const waitingPoint = "waiting"

// GetStudyResults implements GET /studies/{study_id}/results.
func (a *API) GetStudyResults(ctx context.Context, r api.GetStudyResultsRequestObject) (api.GetStudyResultsResponseObject, error) {
	l, err := a.listing(ctx, r, 100)
	if err != nil {
		return nil, err
	}
	switch r.Params.Format {
	case api.GetStudyResultsParamsFormatCsv:
		body, err := a.resultTable(ctx, r.StudyID, r.Params.Status, (*pointTable).writeCSV)
		return api.GetStudyResults200TextCsvResponse{Body: body}, err
	case api.GetStudyResultsParamsFormatParquet:
		body, err := a.resultTable(ctx, r.StudyID, r.Params.Status, (*pointTable).writeParquet)
		return api.GetStudyResults200ApplicationVndApacheParquetResponse{Body: body}, err
	}
	t, err := a.pointTable(ctx, r.StudyID)
	if err != nil {
		return nil, err
	}
	t.statuses = pointStatuses(r.Params.Status)
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
	if next < t.rows() {
		after = []string{strconv.Itoa(next)}
	}
	return api.GetStudyResults200JSONResponse{StudyID: t.study.ID, Results: rows, Pagination: l.pagination(len(rows), after)}, nil
}

// pointStatuses returns the statuses of points that a list names, nil for no list.
func pointStatuses(list string) []string {
	return known(list, waitingPoint, commands.Validating, commands.Provisioning,
		commands.Running, commands.Completed, commands.Failed, commands.Terminated, commands.Invalid)
}
