package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/fault"
)

// AddServerReference implements PATCH
// /configurations/{config_id}/configurations/{component_name} (completions.md
// section 3.5 row 14).
func (a *API) AddServerReference(ctx context.Context, r api.AddServerReferenceRequestObject) (api.AddServerReferenceResponseObject, error) {
	after, err := a.edit(ctx, edit{"AddServerReference", []string{r.ConfigID, r.ComponentName}, headers(r.Params), r.Body},
		always(func(m commands.Match) decision {
			return commands.AddReference{
				ID: r.ConfigID, Match: m, In: commands.InServer, Holder: r.ComponentName,
				Name: r.Body.Name, Type: string(r.Body.Type), Count: r.Body.Count, Group: r.Body.Group,
				ParentApplicationName: r.Body.ParentApplicationName,
			}
		}))
	if err != nil {
		return nil, err
	}
	server, err := after.component(r.ComponentName)
	if err != nil {
		return nil, err
	}
	return api.AddServerReference200JSONResponse{Body: server, Headers: api.AddServerReference200ResponseHeaders{ETag: after.tag}}, nil
}

// ChangeServerReference implements PATCH /configurations/{config_id}/
// configurations/{component_name}/components/{child_name} (row 15).
func (a *API) ChangeServerReference(ctx context.Context, r api.ChangeServerReferenceRequestObject) (api.ChangeServerReferenceResponseObject, error) {
	change, err := readChange(r.Body)
	if err != nil {
		return nil, err
	}
	change.ID, change.In, change.Holder, change.Name = r.ConfigID, commands.InServer, r.ComponentName, r.ChildName
	after, err := a.edit(ctx, edit{"ChangeServerReference", []string{r.ConfigID, r.ComponentName, r.ChildName}, headers(r.Params), r.Body},
		always(func(m commands.Match) decision { change.Match = m; return change }))
	if err != nil {
		return nil, err
	}
	server, err := after.component(r.ComponentName)
	if err != nil {
		return nil, err
	}
	return api.ChangeServerReference200JSONResponse{Body: server, Headers: api.ChangeServerReference200ResponseHeaders{ETag: after.tag}}, nil
}

// RemoveServerReference implements DELETE /configurations/{config_id}/
// configurations/{component_name}/components/{child_name} (row 16).
func (a *API) RemoveServerReference(ctx context.Context, r api.RemoveServerReferenceRequestObject) (api.RemoveServerReferenceResponseObject, error) {
	after, err := a.edit(ctx, edit{"RemoveServerReference", []string{r.ConfigID, r.ComponentName, r.ChildName}, headers(r.Params), nil},
		always(func(m commands.Match) decision {
			return commands.RemoveReference{ID: r.ConfigID, Match: m, In: commands.InServer, Holder: r.ComponentName, Name: r.ChildName}
		}))
	if err != nil {
		return nil, err
	}
	return api.RemoveServerReference204Response{Headers: api.RemoveServerReference204ResponseHeaders{ETag: after.tag}}, nil
}

// AddContainerReference implements PATCH
// /configurations/{config_id}/containers/{container_name} (row 18).
func (a *API) AddContainerReference(ctx context.Context, r api.AddContainerReferenceRequestObject) (api.AddContainerReferenceResponseObject, error) {
	after, err := a.edit(ctx, edit{"AddContainerReference", []string{r.ConfigID, r.ContainerName}, headers(r.Params), r.Body},
		always(func(m commands.Match) decision {
			return commands.AddReference{
				ID: r.ConfigID, Match: m, In: commands.InContainer, Holder: r.ContainerName,
				Name: r.Body.Name, Type: string(r.Body.Type), Count: r.Body.Count, Group: r.Body.Group,
			}
		}))
	if err != nil {
		return nil, err
	}
	container, err := after.container(r.ContainerName)
	if err != nil {
		return nil, err
	}
	return api.AddContainerReference200JSONResponse{Body: container, Headers: api.AddContainerReference200ResponseHeaders{ETag: after.tag}}, nil
}

// ChangeContainerReference implements PATCH /configurations/{config_id}/
// containers/{container_name}/components/{component_name} (row 20).
func (a *API) ChangeContainerReference(ctx context.Context, r api.ChangeContainerReferenceRequestObject) (api.ChangeContainerReferenceResponseObject, error) {
	change, err := readChange(r.Body)
	if err != nil {
		return nil, err
	}
	change.ID, change.In, change.Holder, change.Name = r.ConfigID, commands.InContainer, r.ContainerName, r.ComponentName
	after, err := a.edit(ctx, edit{"ChangeContainerReference", []string{r.ConfigID, r.ContainerName, r.ComponentName}, headers(r.Params), r.Body},
		always(func(m commands.Match) decision { change.Match = m; return change }))
	if err != nil {
		return nil, err
	}
	container, err := after.container(r.ContainerName)
	if err != nil {
		return nil, err
	}
	return api.ChangeContainerReference200JSONResponse{Body: container, Headers: api.ChangeContainerReference200ResponseHeaders{ETag: after.tag}}, nil
}

// RemoveContainerReference implements DELETE /configurations/{config_id}/
// containers/{container_name}/components/{component_name} (row 21).
func (a *API) RemoveContainerReference(ctx context.Context, r api.RemoveContainerReferenceRequestObject) (api.RemoveContainerReferenceResponseObject, error) {
	after, err := a.edit(ctx, edit{"RemoveContainerReference", []string{r.ConfigID, r.ContainerName, r.ComponentName}, headers(r.Params), nil},
		always(func(m commands.Match) decision {
			return commands.RemoveReference{ID: r.ConfigID, Match: m, In: commands.InContainer, Holder: r.ContainerName, Name: r.ComponentName}
		}))
	if err != nil {
		return nil, err
	}
	return api.RemoveContainerReference204Response{Headers: api.RemoveContainerReference204ResponseHeaders{ETag: after.tag}}, nil
}

// readChange reads the changes of a reference. It refuses a body without any.
func readChange(body *api.ReferenceChange) (commands.ChangeReference, error) {
	change := commands.ChangeReference{Group: body.Group}
	if body.Count != 0 {
		change.Count = &body.Count
	}
	if change.Count == nil && change.Group == nil {
		return change, fault.New(fault.Validation, "the request body must have a count or a group, got neither")
	}
	return change, nil
}
