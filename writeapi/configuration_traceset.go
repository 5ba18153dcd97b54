package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/fault"
	"netsim/simulator/validation"
)

// AttachTraceset implements PATCH /configurations/{config_id}/traceset
// (completions.md section 3.5 row 31).
func (a *API) AttachTraceset(ctx context.Context, r api.AttachTracesetRequestObject) (api.AttachTracesetResponseObject, error) {
	whole, tag, err := a.editWhole(ctx, edit{"AttachTraceset", []string{r.ConfigID}, headers(r.Params), r.Body},
		func(_ commands.Configuration, m commands.Match) (decision, error) {
			ranks, err := a.rankCount(ctx, "tracesetId", r.Body.TracesetID)
			return commands.AttachTraceset{ID: r.ConfigID, Match: m, TracesetID: r.Body.TracesetID, RankCount: ranks}, err
		})
	if err != nil {
		return nil, err
	}
	return api.AttachTraceset200JSONResponse{Body: whole, Headers: api.AttachTraceset200ResponseHeaders{ETag: tag}}, nil
}

// DetachTraceset implements DELETE /configurations/{config_id}/traceset (row
// 37).
func (a *API) DetachTraceset(ctx context.Context, r api.DetachTracesetRequestObject) (api.DetachTracesetResponseObject, error) {
	whole, tag, err := a.editWhole(ctx, edit{"DetachTraceset", []string{r.ConfigID}, headers(r.Params), nil},
		always(func(m commands.Match) decision { return commands.DetachTraceset{ID: r.ConfigID, Match: m} }))
	if err != nil {
		return nil, err
	}
	return api.DetachTraceset200JSONResponse{Body: whole, Headers: api.DetachTraceset200ResponseHeaders{ETag: tag}}, nil
}

// rankCount returns the number of ranks of a traceset to attach. member is the
// request member that errors name.
func (a *API) rankCount(ctx context.Context, member, id string) (int64, error) {
	if err := a.Views.AdmitTraceset(ctx, id); err != nil {
		if fault.Is(err, fault.NotFound) {
			err = fault.New(fault.Validation, "%s %s is unknown", member, id)
		}
		return 0, err
	}
	t, err := a.Views.Traceset(ctx, id)
	switch {
	case err != nil:
		return 0, err
	case t.Status != "ready":
		return 0, fault.New(fault.Conflict, "the rank count of traceset %s is not known: it is %s", id, t.Status)
	case t.Ranks <= 0 || t.Ranks > validation.MaxServers:
		return 0, fault.New(fault.Unprocessable, "the rank count of traceset %s must be between 1 and %d, got %d", id, validation.MaxServers, t.Ranks)
	}
	return t.Ranks, nil
}
