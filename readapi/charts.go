package readapi

import (
	"context"

	"netsim/api"
	"netsim/infra/web"
	"netsim/simulator/charts"
)

// ListChartDefinitions implements GET /chart-definitions (completions.md
// section 2.2).
func (a *API) ListChartDefinitions(_ context.Context, r api.ListChartDefinitionsRequestObject) (api.ListChartDefinitionsResponseObject, error) {
	view := api.ChartDefinitions{SchemaVersion: charts.SchemaVersion}
	for _, d := range charts.Definitions() {
		shown := api.ChartDefinition{
			ID: d.ID, Title: d.Title, Description: d.Description, Kind: api.ChartDefinitionKind(d.Kind), Record: d.Record,
			Filters: []api.ChartFilter{}, X: axis(d.X), Y: axis(d.Y), GroupBy: append([]string{}, d.GroupBy...),
		}
		for _, f := range d.Filters {
			shown.Filters = append(shown.Filters, api.ChartFilter{Column: f.Column, Op: api.ChartFilterOp(f.Op), Value: f.Value})
		}
		view.Definitions = append(view.Definitions, shown)
	}
	tag, err := digestTag(view)
	if err != nil {
		return nil, err
	}
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.ListChartDefinitions304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	return api.ListChartDefinitions200JSONResponse{Body: view, Headers: api.ListChartDefinitions200ResponseHeaders{ETag: tag}}, nil
}

func axis(a charts.Axis) api.ChartAxis {
	return api.ChartAxis{Column: a.Column, Label: a.Label, Unit: a.Unit, Aggregate: api.ChartAxisAggregate(a.Aggregate)}
}
