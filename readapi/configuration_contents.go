package readapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"netsim/api"
	"netsim/fault"
	"netsim/infra/web"
	"netsim/projections"
)

// contents has all declarations of a configuration, including those that the
// topology does not reach.
type contents struct {
	Applications     []api.ApplicationItem `json:"applications"`
	Components       []api.Component       `json:"components"`
	Containers       []api.Container       `json:"containers"`
	Links            []api.LinkItem        `json:"links"`
	Topology         api.Topology          `json:"topology"`
	GlobalParameters json.RawMessage       `json:"globalParameters"`
}

// contents returns the declarations and the entity tag of a configuration. It
// checks that the caller may see the configuration.
func (a *API) contents(ctx context.Context, id string) (contents, string, error) {
	var d contents
	c, err := a.ConfigurationRow(ctx, id)
	if err != nil {
		return d, "", err
	}
	if err := readDocument(c.Document, &d); err != nil {
		return d, "", fmt.Errorf("configuration %s: %w", id, err)
	}
	return d, web.ETag(c.Version), nil
}

// ListConfigurationApplications implements GET
// /configurations/{config_id}/applications (completions.md section 3.5 row 6).
func (a *API) ListConfigurationApplications(ctx context.Context, r api.ListConfigurationApplicationsRequestObject) (api.ListConfigurationApplicationsResponseObject, error) {
	d, tag, err := a.contents(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.ListConfigurationApplications304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	for i := range d.Applications {
		if !r.Params.WithDetails {
			d.Applications[i].TypedParameters = nil
		}
	}
	return api.ListConfigurationApplications200JSONResponse{
		Body:    api.ConfigurationApplicationList{Applications: d.Applications},
		Headers: api.ListConfigurationApplications200ResponseHeaders{ETag: tag},
	}, nil
}

// ListConfigurationLinks implements GET /configurations/{config_id}/links (row
// 23).
func (a *API) ListConfigurationLinks(ctx context.Context, r api.ListConfigurationLinksRequestObject) (api.ListConfigurationLinksResponseObject, error) {
	d, tag, err := a.contents(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.ListConfigurationLinks304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	for i := range d.Links {
		if !r.Params.WithDetails {
			d.Links[i].TypedParameters = nil
		}
	}
	return api.ListConfigurationLinks200JSONResponse{
		Body:    api.ConfigurationLinkList{Links: d.Links},
		Headers: api.ListConfigurationLinks200ResponseHeaders{ETag: tag},
	}, nil
}

// ListConfigurationComponents implements GET
// /configurations/{config_id}/components (row 10).
func (a *API) ListConfigurationComponents(ctx context.Context, r api.ListConfigurationComponentsRequestObject) (api.ListConfigurationComponentsResponseObject, error) {
	p := r.Params
	if p.Type == api.ListConfigurationComponentsParamsTypeHost {
		p.Type = api.ListConfigurationComponentsParamsTypeServer
	}
	l, err := a.listing(ctx, r, 50)
	if err != nil {
		return nil, err
	}
	d, _, err := a.contents(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	wanted := slices.DeleteFunc(d.Components, func(c api.Component) bool { return p.Type != "" && string(c.Type) != string(p.Type) })
	page, next, err := pageOf(wanted, l.page, func(c *api.Component) string { return c.Name })
	if err != nil {
		return nil, err
	}
	holder := d.holders()
	items := make([]api.ComponentItem, len(page))
	for i, c := range page {
		items[i] = api.ComponentItem{
			Name: c.Name, Type: api.ComponentItemType(c.Type), Model: c.Model, Version: c.Version, Container: holder[c.Name],
		}
		if p.WithDetails {
			items[i].TypedParameters = c.TypedParameters
		}
	}
	return api.ListConfigurationComponents200JSONResponse{Components: items, Pagination: l.pagination(len(items), next)}, nil
}

// holders returns, for each component, the name of its first holder: servers are
// searched first, then containers, then the topology.
func (d *contents) holders() map[string]string {
	first := map[string]string{}
	hold := func(holder string, refs []api.Reference) {
		for _, ref := range refs {
			if _, held := first[ref.Name]; !held {
				first[ref.Name] = holder
			}
		}
	}
	for _, c := range d.Components {
		hold(c.Name, c.Components)
	}
	for _, c := range d.Containers {
		hold(c.Name, c.Components)
	}
	hold(d.Topology.Name, d.Topology.Components)
	return first
}

// ListConfigurationContainers implements GET
// /configurations/{config_id}/containers (row 17).
func (a *API) ListConfigurationContainers(ctx context.Context, r api.ListConfigurationContainersRequestObject) (api.ListConfigurationContainersResponseObject, error) {
	p := r.Params
	l, err := a.listing(ctx, r, 50)
	if err != nil {
		return nil, err
	}
	d, _, err := a.contents(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	wanted := slices.DeleteFunc(d.Containers, func(c api.Container) bool { return p.Type != "" && string(c.Type) != string(p.Type) })
	page, next, err := pageOf(wanted, l.page, func(c *api.Container) string { return c.Name })
	if err != nil {
		return nil, err
	}
	return api.ListConfigurationContainers200JSONResponse{Containers: page, Pagination: l.pagination(len(page), next)}, nil
}

// pageOf returns a page of a complete list, and the position of the next page. A
// position is the name and the index of the page's last item. If that item has
// been removed since, the next page starts at the index.
func pageOf[T any](items []T, p projections.Page, name func(*T) string) ([]T, []string, error) {
	start := 0
	if p.After != nil {
		if len(p.After) != 2 {
			return nil, nil, errCursor()
		}
		index, err := strconv.Atoi(p.After[1])
		if err != nil || index < 0 {
			return nil, nil, errCursor()
		}
		start = slices.IndexFunc(items, func(item T) bool { return name(&item) == p.After[0] }) + 1
		if start == 0 {
			start = min(index, len(items))
		}
	}
	end := min(start+p.Limit, len(items))
	if end == len(items) {
		return items[start:], nil, nil
	}
	return items[start:end], []string{name(&items[end-1]), strconv.Itoa(end - 1)}, nil
}

// GetAllowedComponents implements GET
// /configurations/{config_id}/containers/{container_name}/allowed (row 19).
func (a *API) GetAllowedComponents(ctx context.Context, r api.GetAllowedComponentsRequestObject) (api.GetAllowedComponentsResponseObject, error) {
	d, tag, err := a.contents(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(d.Containers, func(c api.Container) bool { return c.Name == r.ContainerName })
	if i < 0 {
		return nil, fault.Missing("container", r.ContainerName)
	}
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.GetAllowedComponents304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	c := d.Containers[i]
	return api.GetAllowedComponents200JSONResponse{
		Body: api.AllowedInContainer{
			ContainerName: c.Name, ContainerType: api.AllowedInContainerContainerType(c.Type), AllowedComponents: c.AllowedComponents,
		},
		Headers: api.GetAllowedComponents200ResponseHeaders{ETag: tag},
	}, nil
}

// GetSoftwareVersion implements GET /configurations/{config_id}/software-version
// (row 26).
func (a *API) GetSoftwareVersion(ctx context.Context, r api.GetSoftwareVersionRequestObject) (api.GetSoftwareVersionResponseObject, error) {
	d, tag, err := a.contents(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.GetSoftwareVersion304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	var parameters struct {
		SoftwareVersion struct{ Version struct{ Value string } }
	}
	if err := json.Unmarshal(d.GlobalParameters, &parameters); err != nil {
		return nil, fmt.Errorf("read the software version of configuration %s: %w", r.ConfigID, err)
	}
	return api.GetSoftwareVersion200JSONResponse{
		Body:    api.SoftwareVersion{Version: parameters.SoftwareVersion.Version.Value},
		Headers: api.GetSoftwareVersion200ResponseHeaders{ETag: tag},
	}, nil
}
