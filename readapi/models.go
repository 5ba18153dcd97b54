package readapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"netsim/api"
	"netsim/infra/web"
	"netsim/simulator/catalogue"
)

// ListModels implements GET /models (completions.md section 2.4).
func (a *API) ListModels(ctx context.Context, r api.ListModelsRequestObject) (api.ListModelsResponseObject, error) {
	p := r.Params
	l, err := a.listing(ctx, r, 50)
	if err != nil {
		return nil, err
	}
	search := strings.ToLower(p.Search)
	rows, next, err := l.entries(func(e *catalogue.Entry) bool {
		return (p.Type == "" || slices.Contains(strings.Split(p.Type, ","), e.Type)) &&
			(p.Vendor == "" || e.Vendor == p.Vendor) &&
			(strings.Contains(strings.ToLower(e.Name), search) || strings.Contains(strings.ToLower(e.Description), search))
	})
	if err != nil {
		return nil, err
	}
	items := make([]api.ModelListItem, len(rows))
	for i, e := range rows {
		latest, _ := e.Version("")
		items[i] = api.ModelListItem{
			ID: e.ID, Model: e.Model, Name: e.Name, Type: api.EntityType(e.Type), Vendor: e.Vendor,
			Transport: api.Transport(e.Transport),
			Status:    api.ModelStatus(latest.Status), LatestVersion: latest.Number, Compatibility: compatibility(latest),
		}
	}
	return api.ListModels200JSONResponse{Models: items, Pagination: l.pagination(len(items), next)}, nil
}

func compatibility(v catalogue.Version) *api.ModelCompatibility {
	if v.Compatibility == nil {
		return nil
	}
	return &api.ModelCompatibility{MinEngine: v.Compatibility.MinEngine, MaxEngine: v.Compatibility.MaxEngine}
}

// GetModel implements GET /models/{model_id}: a declaration (completions.md
// section 3.2) that clients can copy into a configuration. Its name is the type
// of the model.
func (a *API) GetModel(_ context.Context, r api.GetModelRequestObject) (api.GetModelResponseObject, error) {
	e, v, err := modelAt("model", r.ModelID, r.Params.Version)
	if err != nil {
		return nil, err
	}
	var declared any
	switch catalogue.Category(e.Type) {
	case catalogue.CategoryApplication:
		declared = e.Application(e.Type, v.Number)
	case catalogue.CategoryContainer:
		declared = e.Container(e.Type, v.Number)
	default:
		declared = e.Component(e.Type, v.Number)
	}
	text, err := json.Marshal(declared)
	if err != nil {
		return nil, fmt.Errorf("declare %s: %w", e.Model, err)
	}
	tag, err := digestTag(json.RawMessage(text))
	if err != nil {
		return nil, err
	}
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.GetModel304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	return api.GetModel200JSONResponse{Body: text, Headers: api.GetModel200ResponseHeaders{ETag: tag}}, nil
}

// ListModelVersions implements GET /models/{model_id}/versions, newest first.
func (a *API) ListModelVersions(_ context.Context, r api.ListModelVersionsRequestObject) (api.ListModelVersionsResponseObject, error) {
	e, _, err := modelAt("model", r.ModelID, "")
	if err != nil {
		return nil, err
	}
	view := api.ModelVersionList{ID: e.ID, Model: e.Model}
	for _, v := range slices.Backward(e.Versions) {
		view.Versions = append(view.Versions, api.ModelVersionItem{
			Version: v.Number, Status: api.ModelStatus(v.Status), Compatibility: compatibility(v),
		})
	}
	return api.ListModelVersions200JSONResponse(view), nil
}
