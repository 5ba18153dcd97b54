package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/fault"
)

// AddTopologyReference implements PATCH /configurations/{config_id}/topology
// (completions.md section 3.5 row 27).
func (a *API) AddTopologyReference(ctx context.Context, r api.AddTopologyReferenceRequestObject) (api.AddTopologyReferenceResponseObject, error) {
	after, err := a.edit(ctx, edit{"AddTopologyReference", []string{r.ConfigID}, headers(r.Params), r.Body},
		always(func(m commands.Match) decision {
			return commands.AddReference{
				ID: r.ConfigID, Match: m, In: commands.InTopology,
				Name: r.Body.Name, Type: string(r.Body.Type), Count: r.Body.Count,
			}
		}))
	if err != nil {
		return nil, err
	}
	view, err := after.declared()
	if err != nil {
		return nil, err
	}
	return api.AddTopologyReference200JSONResponse{Body: view.Topology, Headers: api.AddTopologyReference200ResponseHeaders{ETag: after.tag}}, nil
}

// ChangeTopologyReference implements PATCH
// /configurations/{config_id}/topology/{component_name} (row 28).
func (a *API) ChangeTopologyReference(ctx context.Context, r api.ChangeTopologyReferenceRequestObject) (api.ChangeTopologyReferenceResponseObject, error) {
	after, err := a.edit(ctx, edit{"ChangeTopologyReference", []string{r.ConfigID, r.ComponentName}, headers(r.Params), r.Body},
		always(func(m commands.Match) decision {
			return commands.ChangeReference{ID: r.ConfigID, Match: m, In: commands.InTopology, Name: r.ComponentName, Count: &r.Body.Count}
		}))
	if err != nil {
		return nil, err
	}
	view, err := after.declared()
	if err != nil {
		return nil, err
	}
	return api.ChangeTopologyReference200JSONResponse{Body: view.Topology, Headers: api.ChangeTopologyReference200ResponseHeaders{ETag: after.tag}}, nil
}

// RemoveTopologyReference implements DELETE
// /configurations/{config_id}/topology/{component_name} (row 29).
func (a *API) RemoveTopologyReference(ctx context.Context, r api.RemoveTopologyReferenceRequestObject) (api.RemoveTopologyReferenceResponseObject, error) {
	after, err := a.edit(ctx, edit{"RemoveTopologyReference", []string{r.ConfigID, r.ComponentName}, headers(r.Params), nil},
		always(func(m commands.Match) decision {
			return commands.RemoveReference{ID: r.ConfigID, Match: m, In: commands.InTopology, Name: r.ComponentName}
		}))
	if err != nil {
		return nil, err
	}
	return api.RemoveTopologyReference204Response{Headers: api.RemoveTopologyReference204ResponseHeaders{ETag: after.tag}}, nil
}

// UpdateDistribution implements PATCH /configurations/{config_id}/distribution
// (row 22).
func (a *API) UpdateDistribution(ctx context.Context, r api.UpdateDistributionRequestObject) (api.UpdateDistributionResponseObject, error) {
	after, err := a.edit(ctx, edit{"UpdateDistribution", []string{r.ConfigID}, headers(r.Params), r.Body},
		always(func(m commands.Match) decision {
			return commands.SetDistribution{
				ID: r.ConfigID, Match: m, ParentApplication: r.Body.ParentApplication,
				DistributionID: r.Body.DistributionID, Value: r.Body.Value,
			}
		}))
	if err != nil {
		return nil, err
	}
	view, err := after.declared()
	if err != nil {
		return nil, err
	}
	if view.Topology.AppDistribution == nil { // another client has replaced the topology
		return nil, fault.New(fault.NotFound, "the topology has no appDistribution any more")
	}
	return api.UpdateDistribution200JSONResponse{
		Body: *view.Topology.AppDistribution, Headers: api.UpdateDistribution200ResponseHeaders{ETag: after.tag},
	}, nil
}
