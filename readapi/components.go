package readapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"netsim/api"
	"netsim/fault"
	"netsim/infra/web"
	"netsim/simulator/catalogue"
	"netsim/simulator/document"
)

// ListComponents implements GET /components (completions.md section 2.3). Every
// caller sees the same catalogue.
func (a *API) ListComponents(ctx context.Context, r api.ListComponentsRequestObject) (api.ListComponentsResponseObject, error) {
	p := r.Params
	l, err := a.listing(ctx, r, 50)
	if err != nil {
		return nil, err
	}
	rows, next, err := l.entries(func(e *catalogue.Entry) bool {
		return (p.Category == "" || catalogue.Category(e.Type) == string(p.Category)) && (p.Type == "" || e.Type == string(p.Type))
	})
	if err != nil {
		return nil, err
	}
	items := make([]api.ComponentListItem, len(rows))
	for i, e := range rows {
		items[i] = api.ComponentListItem{
			ID: e.ID, Category: api.ComponentCategory(catalogue.Category(e.Type)), Type: api.EntityType(e.Type),
			Name: e.Name, Model: e.Model, Description: e.Description, LatestVersion: e.Latest(),
		}
		for _, v := range slices.Backward(e.Versions) {
			items[i].Versions = append(items[i].Versions, v.Number)
		}
	}
	return api.ListComponents200JSONResponse{Components: items, Pagination: l.pagination(len(items), next)}, nil
}

// entries returns a page of the catalogue's entries for which wanted is true, and
// the position of the next page.
func (l listing) entries(wanted func(*catalogue.Entry) bool) (page []catalogue.Entry, next []string, err error) {
	for _, e := range catalogue.Entries() {
		if wanted(&e) {
			page = append(page, e)
		}
	}
	if after := l.page.After; after != nil {
		i := slices.IndexFunc(page, func(e catalogue.Entry) bool { return e.ID == after[0] })
		if i < 0 {
			return nil, nil, errCursor() // only another release has the entry
		}
		page = page[i+1:]
	}
	if len(page) > l.page.Limit {
		page = page[:l.page.Limit]
		next = []string{page[len(page)-1].ID}
	}
	return page, next, nil
}

// GetComponent implements GET /components/{component_id}. The id may also be the
// reference of the model, such as gpu-v1.
func (a *API) GetComponent(_ context.Context, r api.GetComponentRequestObject) (api.GetComponentResponseObject, error) {
	e, v, err := modelAt("component", r.ComponentID, r.Params.Version)
	if err != nil {
		return nil, err
	}
	parameters, err := json.Marshal(catalogue.Describe(e.Component("", "").TypedParameters, e.Parameters))
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", e.Model, err)
	}
	view := api.ComponentDetail{
		ID: e.ID, Category: api.ComponentCategory(catalogue.Category(e.Type)), Type: api.EntityType(e.Type),
		Name: e.Name, Description: e.Description, TrafficType: api.ComponentDetailTrafficType(e.TrafficType),
		Transport: api.Transport(e.Transport),
		Version:   v.Number, LatestVersion: e.Latest(), CreatedAt: timestamp(v.CreatedAt), TypedParameters: parameters,
		ContainerSchema: containerSchema(e.Type),
	}
	if r.Params.Notes {
		view.Notes = v.Notes
	}
	tag, err := digestTag(view)
	if err != nil {
		return nil, err
	}
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.GetComponent304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	return api.GetComponent200JSONResponse{Body: view, Headers: api.GetComponent200ResponseHeaders{ETag: tag}}, nil
}

// modelAt returns a model by its id or its reference, and one of its versions;
// "" is the newest stable version.
func modelAt(what, name, version string) (catalogue.Entry, catalogue.Version, error) {
	e, known := catalogue.Find(name)
	if !known {
		return e, catalogue.Version{}, fault.Missing(what, name)
	}
	v, known := e.Version(version)
	if !known {
		return e, v, fault.Missing("version "+version+" of "+what, name)
	}
	return e, v, nil
}

// containerSchema describes the members of a rack or a pod; nil for other types.
func containerSchema(kind string) *api.ContainerSchema {
	if catalogue.Category(kind) != catalogue.CategoryContainer {
		return nil
	}
	allowed := document.Allowed(kind)
	types := make([]api.EntityType, len(allowed))
	for i, t := range allowed {
		types[i] = api.EntityType(t)
	}
	return &api.ContainerSchema{
		Type: api.ContainerSchemaType(kind), Allowed: types,
		Name: api.FieldSchema{Type: "string", Minimum: 1, Description: "unique over all components, containers, links and applications of its configuration"},
		Components: api.MembersSchema{
			Type: "array", Description: "what stands in the " + kind + ": " + strings.Join(allowed, " and ") + " declarations, by name",
			Items: map[string]api.FieldSchema{
				"name":  {Type: "string", Minimum: 1, Description: "name of what is declared elsewhere in the configuration"},
				"type":  {Type: "string", Enum: allowed, Description: "type of what is declared elsewhere"},
				"count": {Type: "integer", Minimum: 1, Description: "how many of it stand here; 1 when absent"},
				"group": {Type: "string", Description: "free text that tells members apart"},
			},
		},
	}
}

// digestTag returns the entity tag of a view that is compiled into the program.
// The tag changes with the view.
func digestTag(view any) (string, error) {
	text, err := json.Marshal(view)
	if err != nil {
		return "", fmt.Errorf("digest a view: %w", err)
	}
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:8]) + `"`, nil
}
