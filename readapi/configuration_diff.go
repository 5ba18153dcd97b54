package readapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"netsim/api"
	"netsim/projections"
	"netsim/simulator/document/difference"
)

// GetConfigurationDiff implements GET /configurations/{config_id}/diff: the
// differences of two versions in all their declarations.
func (a *API) GetConfigurationDiff(ctx context.Context, r api.GetConfigurationDiffRequestObject) (api.GetConfigurationDiffResponseObject, error) {
	c, err := a.ConfigurationRow(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	to := cmp.Or(r.Params.To, c.Version)
	from := cmp.Or(r.Params.From, max(to-1, 1))
	was, err := a.comparable(ctx, c.ID, from)
	if err != nil {
		return nil, err
	}
	is, err := a.comparable(ctx, c.ID, to)
	if err != nil {
		return nil, err
	}
	d, err := difference.Of(was, is)
	if err != nil {
		return nil, fmt.Errorf("versions %d and %d of configuration %s: %w", from, to, c.ID, err)
	}
	view := api.ConfigurationDiff{
		From: from, To: to,
		Patch: make([]api.PatchOperation, len(d.Patch)), Changes: make([]api.ConfigurationChange, len(d.Changes)),
	}
	for i, o := range d.Patch {
		view.Patch[i] = api.PatchOperation{Op: api.PatchOperationOp(o.Op), Path: o.Path, From: o.From, Value: o.Value}
	}
	for i, x := range d.Changes {
		view.Changes[i] = api.ConfigurationChange{
			Kind: api.ConfigurationChangeKind(x.Kind), Subject: x.Subject, Path: x.Path,
			Before: x.Before, After: x.After, Text: x.Text,
		}
	}
	return api.GetConfigurationDiff200JSONResponse(view), nil
}

// comparable returns the JSON of a version as GET shows it with include=all, but
// without the members that differ in every version.
func (a *API) comparable(ctx context.Context, id string, version int64) ([]byte, error) {
	v, err := projections.FindConfigurationVersion(ctx, a.DB, id, version)
	if err != nil {
		return nil, err
	}
	view, err := a.versionView(ctx, id, &v)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(view)
	if err != nil {
		return nil, fmt.Errorf("version %d of configuration %s: %w", version, id, err)
	}
	return text, nil
}
