package writeapi

import (
	"context"
	"encoding/json"
	"fmt"

	"netsim/api"
	"netsim/commands"
	"netsim/fault"
	"netsim/simulator/document"
)

// AddApplication implements POST /configurations/{config_id}/applications
// (completions.md section 3.5 row 7).
func (a *API) AddApplication(ctx context.Context, r api.AddApplicationRequestObject) (api.AddApplicationResponseObject, error) {
	p := r.Params
	asked := []string{p.ModelID, p.Name, p.Version}
	after, err := a.edit(ctx, edit{"AddApplication", []string{r.ConfigID}, headers{p.IfMatch, p.IdempotencyKey}, asked},
		always(func(m commands.Match) decision {
			return commands.AddApplication{ID: r.ConfigID, Match: m, Name: p.Name, Model: p.ModelID, Version: p.Version}
		}))
	if err != nil {
		return nil, err
	}
	added, err := after.application(p.Name)
	if err != nil {
		return nil, err
	}
	return api.AddApplication201JSONResponse{Body: added, Headers: api.AddApplication201ResponseHeaders{
		ETag: after.tag, Location: "/api/v1/configurations/" + r.ConfigID + "/applications/" + p.Name,
	}}, nil
}

// RemoveApplication implements DELETE
// /configurations/{config_id}/applications/{app_name} (row 8).
func (a *API) RemoveApplication(ctx context.Context, r api.RemoveApplicationRequestObject) (api.RemoveApplicationResponseObject, error) {
	after, err := a.edit(ctx, edit{"RemoveApplication", []string{r.ConfigID, r.AppName}, headers(r.Params), nil},
		always(func(m commands.Match) decision {
			return commands.RemoveApplication{ID: r.ConfigID, Match: m, Name: r.AppName}
		}))
	if err != nil {
		return nil, err
	}
	return api.RemoveApplication200JSONResponse{
		Body: api.ApplicationRemoval{
			ID: r.ConfigID, Status: api.ConfigurationStatus(after.Status), Message: "application '" + r.AppName + "' is removed",
		},
		Headers: api.RemoveApplication200ResponseHeaders{ETag: after.tag},
	}, nil
}

// AddComponent implements POST /configurations/{config_id}/components (row 11).
func (a *API) AddComponent(ctx context.Context, r api.AddComponentRequestObject) (api.AddComponentResponseObject, error) {
	p := r.Params
	asked := []string{p.ModelID, string(p.Type), p.Name, p.Version}
	after, err := a.edit(ctx, edit{"AddComponent", []string{r.ConfigID}, headers{p.IfMatch, p.IdempotencyKey}, asked},
		always(func(m commands.Match) decision {
			return commands.AddComponent{
				ID: r.ConfigID, Match: m, Name: p.Name, Type: string(p.Type), Model: p.ModelID, Version: p.Version,
			}
		}))
	if err != nil {
		return nil, err
	}
	added, err := after.declaration(p.Name)
	if err != nil {
		return nil, err
	}
	return api.AddComponent201JSONResponse{Body: added, Headers: api.AddComponent201ResponseHeaders{
		ETag: after.tag, Location: "/api/v1/configurations/" + r.ConfigID + "/components/" + p.Name,
	}}, nil
}

// declaration returns the component, link or container with the name.
func (e edited) declaration(name string) (api.Declaration, error) {
	var found any
	found, err := e.container(name)
	if fault.Is(err, fault.NotFound) {
		found, err = e.component(name)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(found)
	if err != nil {
		return nil, fmt.Errorf("encode the declaration of %s: %w", name, err)
	}
	return text, nil
}

// RemoveComponent implements DELETE
// /configurations/{config_id}/components/{component_name} (row 12).
func (a *API) RemoveComponent(ctx context.Context, r api.RemoveComponentRequestObject) (api.RemoveComponentResponseObject, error) {
	after, err := a.edit(ctx, edit{"RemoveComponent", []string{r.ConfigID, r.ComponentName}, headers(r.Params), nil},
		always(func(m commands.Match) decision {
			return commands.RemoveComponent{ID: r.ConfigID, Match: m, Name: r.ComponentName}
		}))
	if err != nil {
		return nil, err
	}
	return api.RemoveComponent204Response{Headers: api.RemoveComponent204ResponseHeaders{ETag: after.tag}}, nil
}

// PatchApplicationParameters implements PATCH
// /configurations/{config_id}/applications/{app_name}/parameters (row 9).
func (a *API) PatchApplicationParameters(ctx context.Context, r api.PatchApplicationParametersRequestObject) (api.PatchApplicationParametersResponseObject, error) {
	tree, tag, err := a.patch(ctx, edit{"PatchApplicationParameters", []string{r.ConfigID, r.AppName}, headers(r.Params), r.Body},
		document.OfApplication, r.AppName, *r.Body)
	if err != nil {
		return nil, err
	}
	return api.PatchApplicationParameters200JSONResponse{Body: tree, Headers: api.PatchApplicationParameters200ResponseHeaders{ETag: tag}}, nil
}

// PatchComponentParameters implements PATCH
// /configurations/{config_id}/components/{component_name}/parameters (row 13).
func (a *API) PatchComponentParameters(ctx context.Context, r api.PatchComponentParametersRequestObject) (api.PatchComponentParametersResponseObject, error) {
	tree, tag, err := a.patch(ctx, edit{"PatchComponentParameters", []string{r.ConfigID, r.ComponentName}, headers(r.Params), r.Body},
		document.OfComponent, r.ComponentName, *r.Body)
	if err != nil {
		return nil, err
	}
	return api.PatchComponentParameters200JSONResponse{Body: tree, Headers: api.PatchComponentParameters200ResponseHeaders{ETag: tag}}, nil
}

// PatchLinkParameters implements PATCH
// /configurations/{config_id}/links/{link_name}/parameters (row 24).
func (a *API) PatchLinkParameters(ctx context.Context, r api.PatchLinkParametersRequestObject) (api.PatchLinkParametersResponseObject, error) {
	tree, tag, err := a.patch(ctx, edit{"PatchLinkParameters", []string{r.ConfigID, r.LinkName}, headers(r.Params), r.Body},
		document.OfLink, r.LinkName, *r.Body)
	if err != nil {
		return nil, err
	}
	return api.PatchLinkParameters200JSONResponse{Body: tree, Headers: api.PatchLinkParameters200ResponseHeaders{ETag: tag}}, nil
}

// PatchGlobalParameters implements PATCH /configurations/{config_id}/parameters
// (row 25).
func (a *API) PatchGlobalParameters(ctx context.Context, r api.PatchGlobalParametersRequestObject) (api.PatchGlobalParametersResponseObject, error) {
	tree, tag, err := a.patch(ctx, edit{"PatchGlobalParameters", []string{r.ConfigID}, headers(r.Params), r.Body},
		document.OfGlobal, "", *r.Body)
	if err != nil {
		return nil, err
	}
	return api.PatchGlobalParameters200JSONResponse{Body: tree, Headers: api.PatchGlobalParameters200ResponseHeaders{ETag: tag}}, nil
}

// patch changes parameters and returns their whole tree (completions.md
// section 3.7).
func (a *API) patch(ctx context.Context, e edit, kind, target string, body api.Params) (tree api.Params, tag string, err error) {
	if patch, err := document.ParseParams(string(body)); err == nil && len(patch) == 0 {
		return nil, "", fault.New(fault.Validation, "the request body must name at least one parameter to change")
	}
	after, err := a.edit(ctx, e, always(func(m commands.Match) decision {
		return commands.PatchParameters{ID: e.path[0], Match: m, Of: kind, Target: target, Patch: body}
	}))
	if err != nil {
		return nil, "", err
	}
	tree, err = after.parameters(kind, target)
	return tree, after.tag, err
}
