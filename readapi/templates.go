package readapi

import (
	"context"
	"encoding/json"
	"fmt"

	"netsim/api"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
	"netsim/simulator/catalogue"
	"netsim/simulator/document"
)

// ListTemplates implements GET /templates: the built-in templates, the account's
// own, and the public ones of other accounts.
func (a *API) ListTemplates(ctx context.Context, r api.ListTemplatesRequestObject) (api.ListTemplatesResponseObject, error) {
	l, err := a.listing(ctx, r, 50)
	if err != nil {
		return nil, err
	}
	rows, next, err := projections.ListTemplates(ctx, a.DB, projections.TemplateQuery{
		Seen: access.Templates(l.caller), Account: access.Account(l.caller), Page: l.page,
		Where: []projections.Filter{
			projections.Equal("category", string(r.Params.Category)),
			projections.Search(r.Params.Search, "name", "description"),
		},
	})
	if err != nil {
		return nil, err
	}
	items := api.Each(rows, func(t *projections.Configuration) api.TemplateListItem {
		return api.TemplateListItem{
			ID: t.ID, Name: t.Name, Description: t.Description, Category: api.TemplateCategory(t.Category),
			Visibility: api.TemplateVisibility(t.Visibility),
		}
	})
	return api.ListTemplates200JSONResponse{Templates: items, Pagination: l.pagination(len(items), next)}, nil
}

// GetTemplate implements GET /templates/{template_id}.
func (a *API) GetTemplate(ctx context.Context, r api.GetTemplateRequestObject) (api.GetTemplateResponseObject, error) {
	t, err := a.TemplateRow(ctx, r.TemplateID)
	if err != nil {
		return nil, err
	}
	tag := web.ETag(t.Version)
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.GetTemplate304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	view, err := a.templateView(ctx, &t)
	if err != nil {
		return nil, err
	}
	return api.GetTemplate200JSONResponse{Body: view, Headers: api.GetTemplate200ResponseHeaders{ETag: tag}}, nil
}

// TemplateView is ConfigurationView for a template.
func (a *API) TemplateView(id string) view[api.Template] {
	return viewAfter(projections.Configuration{ID: id}, a.TemplateRow, a.templateView)
}

func (a *API) templateView(ctx context.Context, t *projections.Configuration) (api.Template, error) {
	view := api.Template{
		ID: t.ID, Name: t.Name, Description: t.Description,
		Category: api.TemplateCategory(t.Category), Visibility: api.TemplateVisibility(t.Visibility),
	}
	c, err := a.configurationView(ctx, t)
	if err != nil {
		return view, err
	}
	for i := range c.Components {
		m := &c.Components[i]
		err = describe(&m.TypedParameters, m.Model, err)
	}
	for i := range c.Links {
		m := &c.Links[i]
		err = describe(&m.TypedParameters, m.Model, err)
	}
	for i := range c.Applications {
		m := &c.Applications[i]
		err = describe(&m.TypedParameters, m.Model, err)
	}
	err = describeWith(&c.GlobalParameters, catalogue.Globals(), err)
	view.Configuration = c
	if err != nil {
		return view, fmt.Errorf("template %s: %w", t.ID, err)
	}
	return view, nil
}

// describe adds the model's description to each parameter (document 1, Versioning
// item 8). A model that is not in the catalogue has none. After an earlier error,
// describe only returns it.
func describe(p *json.RawMessage, model string, err error) error {
	entry, _ := catalogue.Find(model)
	return describeWith(p, entry.Parameters, err)
}

func describeWith(p *json.RawMessage, schema []catalogue.Parameter, before error) error {
	if before != nil || len(*p) == 0 {
		return before
	}
	tree, err := document.ParseParams(string(*p))
	if err != nil {
		return err
	}
	*p, err = json.Marshal(catalogue.Describe(tree, schema))
	return err
}
