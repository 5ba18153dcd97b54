package writeapi

import (
	"cmp"
	"context"
	"time"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	web "netsim/infra/web"
)

// Templates reads templates.
type Templates interface {
	// AdmitTemplate returns a template that the caller may see.
	AdmitTemplate(ctx context.Context, id string) (commands.Configuration, error)
	// AdmitTemplateDeletion returns NotFound unless the caller may see the template,
	// and Forbidden unless it belongs to the caller's account.
	AdmitTemplateDeletion(ctx context.Context, id string) error
	// TemplateAfter returns the template after a change at a time.
	TemplateAfter(ctx context.Context, id string, state commands.Configuration, at time.Time) (api.Template, error)
	// Template returns the template and its entity tag.
	Template(ctx context.Context, id string) (api.Template, string, error)
}

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
	made, tag, err := a.templateAfter(ctx, w.stream, result)
	if err != nil {
		return nil, err
	}
	return api.CreateTemplate201JSONResponse{Body: made, Headers: api.CreateTemplate201ResponseHeaders{
		ETag: tag, Location: "/api/v1/templates/" + made.ID,
	}}, nil
}

// templateAfter returns a template and its entity tag: the state after the command,
// or the current state for a repetition.
func (a *API) templateAfter(ctx context.Context, id string, result handle.Result) (api.Template, string, error) {
	made, ok := result.State.(*commands.Configuration)
	if !ok {
		return a.Templates.Template(ctx, id)
	}
	view, err := a.Templates.TemplateAfter(ctx, id, *made, result.Event.Time)
	return view, web.ETag(made.Version), err
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
