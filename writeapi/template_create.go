package writeapi

import (
	"cmp"
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// CreateTemplate implements POST /templates: it makes a configuration in the
// template workspace, with a category and a description.
func (a *API) CreateTemplate(ctx context.Context, r api.CreateTemplateRequestObject) (api.CreateTemplateResponseObject, error) {
	w, err := create(ctx, "CreateTemplate", events.ConfigurationPrefix, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	document, err := readDocument(documentOf(r.Body))
	if err != nil {
		return nil, err
	}
	text, err := storable(document)
	if err != nil {
		return nil, err
	}
	result, err := handle.Command[commands.Configuration](ctx, a.Commands, w.to(events.TemplateWorkspace), w.origin,
		commands.CreateConfiguration{Created: events.ConfigurationCreated{
			AccountID: w.caller.AccountID, WorkspaceID: events.TemplateWorkspace, Name: r.Body.Name,
			Document: text, ComponentCount: int64(document.ComponentCount()), Status: commands.Draft,
			Category: string(r.Body.Category), Description: r.Body.Description,
			Visibility: cmp.Or(string(r.Body.Visibility), commands.VisibleToAccount),
		}})
	if err != nil {
		return nil, err
	}
	made, tag, err := a.Views.TemplateView(w.stream)(ctx, result.Event, result.State)
	if err != nil {
		return nil, err
	}
	return api.CreateTemplate201JSONResponse{Body: made, Headers: api.CreateTemplate201ResponseHeaders{
		ETag: tag, Location: "/api/v1/templates/" + made.ID,
	}}, nil
}

// documentOf returns the document of a new template; missing members are empty.
func documentOf(t *api.TemplateCreate) *api.ConfigurationCreate {
	topology := api.Topology{Type: api.TopologyTypeClos, TopologyTiers: 1}
	if t.Topology != nil {
		topology = *t.Topology
	}
	return &api.ConfigurationCreate{
		Applications: append([]api.Application{}, t.Applications...),
		Components:   append([]api.Component{}, t.Components...),
		Containers:   append([]api.Container{}, t.Containers...),
		Links:        append([]api.Component{}, t.Links...),
		Topology:     topology, GlobalParameters: t.GlobalParameters,
	}
}
