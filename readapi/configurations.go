package readapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// ListConfigurations implements GET /configurations (completions.md section
// 3.5 row 1): those of the workspaces that the caller is a member of.
func (a *API) ListConfigurations(ctx context.Context, r api.ListConfigurationsRequestObject) (api.ListConfigurationsResponseObject, error) {
	p := r.Params
	if err := access.Member(ctx, p.WorkspaceID); err != nil {
		return nil, err
	}
	l, err := a.listing(ctx, r, 50)
	if err != nil {
		return nil, err
	}
	rows, next, err := projections.ListConfigurations(ctx, a.DB, projections.ConfigurationQuery{
		Scope: access.Owned(l.caller).In(p.WorkspaceID), Page: l.page,
		Where: []projections.Filter{
			projections.OneOf("status", known(p.Status, commands.Draft, commands.Validated, commands.Invalid)),
			projections.Search(p.Search, "name", "description"),
			projections.Within("created_at", p.CreatedAfter.Time, p.CreatedBefore.Time),
		},
	})
	if err != nil {
		return nil, err
	}
	items := api.Each(rows, func(c *projections.Configuration) api.ConfigurationListItem {
		return api.ConfigurationListItem{
			ID: c.ID, WorkspaceID: c.WorkspaceID, Name: c.Name, Status: api.ConfigurationStatus(c.Status),
			Version: c.Version, ComponentCount: c.ComponentCount,
			CreatedAt: timestamp(c.CreatedAt), ModifiedAt: timestamp(c.ModifiedAt),
		}
	})
	return api.ListConfigurations200JSONResponse{Configurations: items, Pagination: l.pagination(len(items), next)}, nil
}

// GetConfiguration implements GET /configurations/{config_id}.
func (a *API) GetConfiguration(ctx context.Context, r api.GetConfigurationRequestObject) (api.GetConfigurationResponseObject, error) {
	c, err := a.ConfigurationRow(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	tag := web.ETag(c.Version)
	// Validation and the deletion of a mapping file change the response without a
	// new version, so 304 is possible only for a draft without a mapping file.
	if c.Status == commands.Draft && c.MappingFileID == "" && web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.GetConfiguration304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	view, err := a.configurationView(ctx, &c)
	if err != nil {
		return nil, err
	}
	if r.Params.Include == api.GetConfigurationParamsIncludeAll {
		var all api.Configuration
		if err := readDocument(c.Document, &all); err != nil {
			return nil, fmt.Errorf("configuration %s: %w", c.ID, err)
		}
		view.Components = all.Components
	}
	return api.GetConfiguration200JSONResponse{Body: view, Headers: api.GetConfiguration200ResponseHeaders{ETag: tag}}, nil
}

// ListConfigurationVersions implements GET /configurations/{config_id}/versions.
func (a *API) ListConfigurationVersions(ctx context.Context, r api.ListConfigurationVersionsRequestObject) (api.ListConfigurationVersionsResponseObject, error) {
	if _, err := a.ConfigurationRow(ctx, r.ConfigID); err != nil {
		return nil, err
	}
	rows, err := projections.ListConfigurationVersions(ctx, a.DB, r.ConfigID)
	if err != nil {
		return nil, err
	}
	versions := make([]api.ConfigurationVersionItem, len(rows))
	for i, v := range rows {
		versions[i] = api.ConfigurationVersionItem{
			Version: v.Version, CreatedAt: timestamp(v.CreatedAt), Status: api.ConfigurationStatus(v.Status),
		}
	}
	return api.ListConfigurationVersions200JSONResponse{Versions: versions}, nil
}

// GetConfigurationVersion implements GET
// /configurations/{config_id}/versions/{version}: the version's document.
func (a *API) GetConfigurationVersion(ctx context.Context, r api.GetConfigurationVersionRequestObject) (api.GetConfigurationVersionResponseObject, error) {
	c, err := a.ConfigurationRow(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	v, err := projections.FindConfigurationVersion(ctx, a.DB, r.ConfigID, r.Version)
	if err != nil {
		return nil, err
	}
	view, err := a.versionView(ctx, c.ID, &v)
	if err != nil {
		return nil, err
	}
	if r.Params.Include != api.GetConfigurationVersionParamsIncludeAll {
		if view.Components, err = reachable(v.Document, view.Components); err != nil {
			return nil, fmt.Errorf("version %d of configuration %s: %w", v.Version, c.ID, err)
		}
	}
	view.Version, view.CreatedAt, view.ParentConfigurationID = v.Version, timestamp(v.CreatedAt), c.ParentConfigurationID
	return api.GetConfigurationVersion200JSONResponse(view), nil
}

// versionView returns the declarations and attachments of a version.
func (a *API) versionView(ctx context.Context, id string, v *projections.ConfigurationVersion) (api.ConfigurationVersion, error) {
	var view api.ConfigurationVersion
	if err := readDocument(v.Document, &view); err != nil {
		return view, fmt.Errorf("version %d of configuration %s: %w", v.Version, id, err)
	}
	var err error
	view.ActiveTraceset, view.ActiveMappingFile, err = a.attached(ctx, v.TracesetID, v.MappingFileID)
	return view, err
}

// ConfigurationView returns the view of a configuration that a command makes.
func (a *API) ConfigurationView(id string) view[api.Configuration] {
	return viewAfter(projections.Configuration{ID: id}, a.configuration, a.configurationView)
}

// AdmitConfigurationChange is AdmitConfiguration, and also returns the view of the
// configuration after a change.
func (a *API) AdmitConfigurationChange(ctx context.Context, id string) (commands.Configuration, view[api.Configuration], error) {
	c, err := a.ConfigurationRow(ctx, id)
	return access.StateOf(&c), viewAfter(c, a.configuration, a.configurationView), err
}

func (a *API) configuration(ctx context.Context, id string) (projections.Configuration, error) {
	c, _, err := a.Rows.Configuration(ctx, id)
	return c, err
}

// viewAfter returns the view of a configuration whose row was read before the
// command. now reads the row when there is no event.
func viewAfter[V any](before projections.Configuration,
	now func(context.Context, string) (projections.Configuration, error),
	encode func(context.Context, *projections.Configuration) (V, error),
) view[V] {
	return func(ctx context.Context, e *events.Event, state commands.State) (V, string, error) {
		var c projections.Configuration
		var err error
		if made, ok := state.(*commands.Configuration); ok {
			c, err = before.After(e, made)
		} else {
			c, err = now(ctx, before.ID)
		}
		if err != nil {
			var none V
			return none, "", err
		}
		shown, err := encode(ctx, &c)
		return shown, web.ETag(c.Version), err
	}
}

func (a *API) configurationView(ctx context.Context, c *projections.Configuration) (api.Configuration, error) {
	var view api.Configuration
	if err := readDocument(c.Document, &view); err != nil {
		return view, fmt.Errorf("configuration %s: %w", c.ID, err)
	}
	view.ID, view.WorkspaceID, view.Name = c.ID, c.WorkspaceID, c.Name
	view.Status, view.Version, view.ComponentCount = api.ConfigurationStatus(c.Status), c.Version, c.ComponentCount
	view.CreatedAt, view.ModifiedAt = timestamp(c.CreatedAt), timestamp(c.ModifiedAt)
	view.ParentConfigurationID = c.ParentConfigurationID
	var err error
	if view.Components, err = reachable(c.Document, view.Components); err != nil {
		return view, fmt.Errorf("configuration %s: %w", c.ID, err)
	}
	view.ActiveTraceset, view.ActiveMappingFile, err = a.attached(ctx, c.TracesetID, c.MappingFileID)
	return view, err
}

// readDocument decodes a stored document into a view.
func readDocument(text string, view any) error {
	if err := json.Unmarshal([]byte(text), view); err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	return nil
}

// reachable returns the components that the topology reaches (completions.md
// section 3.2).
func reachable(text string, components []api.Component) ([]api.Component, error) {
	doc, err := document.Parse(text)
	if err != nil {
		return nil, err
	}
	reached := validation.Reachable(doc)
	return slices.DeleteFunc(components, func(c api.Component) bool { return !reached[c.Name] }), nil
}

// attached returns the references to the traceset and the mapping file.
func (a *API) attached(ctx context.Context, traceset, mappingFile string) (*api.TracesetReference, *api.MappingFileReference, error) {
	t, err := a.tracesetReference(ctx, traceset)
	if err != nil {
		return nil, nil, err
	}
	m, err := a.mappingFileReference(ctx, mappingFile)
	return t, m, err
}

func (a *API) tracesetReference(ctx context.Context, id string) (*api.TracesetReference, error) {
	if id == "" {
		return nil, nil
	}
	name, err := projections.TracesetName(ctx, a.DB, id)
	if err != nil {
		return nil, err
	}
	return &api.TracesetReference{ID: id, Name: name}, nil
}
