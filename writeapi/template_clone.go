package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands/handle"
	"netsim/events"
)

// CloneTemplate implements POST /templates/{template_id}/clone (completions.md
// section 2.5).
func (a *API) CloneTemplate(ctx context.Context, r api.CloneTemplateRequestObject) (api.CloneTemplateResponseObject, error) {
	w, err := create(ctx, "CloneTemplate "+r.TemplateID, events.ConfigurationPrefix, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	made, tag, err := a.made(ctx, w, func() (handle.Result, error) {
		template, err := a.Views.AdmitTemplate(ctx, r.TemplateID)
		if err != nil {
			return handle.Result{}, err
		}
		return a.clone(ctx, w, source{r.TemplateID, template}, r.Body.Name, r.Body.WorkspaceID)
	})
	if err != nil {
		return nil, err
	}
	return api.CloneTemplate201JSONResponse{Body: made, Headers: api.CloneTemplate201ResponseHeaders{
		ETag: tag, Location: "/api/v1/configurations/" + made.ID,
	}}, nil
}
