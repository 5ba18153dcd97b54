package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// DeleteTemplate implements DELETE /templates/{template_id}. Clones of the
// template are not deleted.
func (a *API) DeleteTemplate(ctx context.Context, r api.DeleteTemplateRequestObject) (api.DeleteTemplateResponseObject, error) {
	w, err := change(ctx, "DeleteTemplate", r.TemplateID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	_, err = a.once(ctx, w, func() error {
		if err := a.Views.AdmitTemplateDeletion(ctx, r.TemplateID); err != nil {
			return err
		}
		_, err := handle.Command[commands.Configuration](ctx, a.Commands, w.existing(events.TemplateWorkspace), w.origin,
			commands.DeleteConfiguration{ID: r.TemplateID, Reason: "request"})
		return err
	})
	return api.DeleteTemplate204Response{}, err
}
