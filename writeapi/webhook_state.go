package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
)

// webhookWrite is a request to change a webhook.
type webhookWrite struct {
	operation, id, key string
	body               any
	filter             *commands.WebhookFilter // to admit; nil for none
}

// runWebhook runs a command of a request that the caller may make, and returns the view
// after it.
func runWebhook(ctx context.Context, a *API, w webhookWrite, command commands.Command[commands.Webhook]) (result handle.Result, after View[api.Webhook], err error) {
	write, err := change(ctx, w.operation, w.id, w.key, w.body)
	if err != nil {
		return result, nil, err
	}
	account, after, err := a.Webhooks.AdmitWebhookChange(ctx, w.id, w.filter)
	if err != nil {
		return result, nil, err
	}
	result, err = handle.Command[commands.Webhook](ctx, a.Commands, write.existing(account), write.origin, command)
	return result, after, err
}

// changeWebhook is runWebhook, and returns the webhook after the command with its entity
// tag.
func changeWebhook(ctx context.Context, a *API, w webhookWrite, command commands.Command[commands.Webhook]) (made api.Webhook, tag string, err error) {
	result, after, err := runWebhook(ctx, a, w, command)
	if err != nil {
		return made, "", err
	}
	return after(ctx, result.Event, result.State)
}

// PauseWebhook implements POST /webhooks/{webhook_id}/pause.
func (a *API) PauseWebhook(ctx context.Context, r api.PauseWebhookRequestObject) (api.PauseWebhookResponseObject, error) {
	w := webhookWrite{"PauseWebhook", r.WebhookID, r.Params.IdempotencyKey, nil, nil}
	paused, tag, err := changeWebhook(ctx, a, w, commands.PauseWebhook{ID: r.WebhookID})
	return api.PauseWebhook200JSONResponse{Body: paused, Headers: api.PauseWebhook200ResponseHeaders{ETag: tag}}, err
}

// ResumeWebhook implements POST /webhooks/{webhook_id}/resume.
func (a *API) ResumeWebhook(ctx context.Context, r api.ResumeWebhookRequestObject) (api.ResumeWebhookResponseObject, error) {
	w := webhookWrite{"ResumeWebhook", r.WebhookID, r.Params.IdempotencyKey, nil, nil}
	resumed, tag, err := changeWebhook(ctx, a, w, commands.ResumeWebhook{ID: r.WebhookID})
	return api.ResumeWebhook200JSONResponse{Body: resumed, Headers: api.ResumeWebhook200ResponseHeaders{ETag: tag}}, err
}

// ReplayWebhook implements POST /webhooks/{webhook_id}/replay.
func (a *API) ReplayWebhook(ctx context.Context, r api.ReplayWebhookRequestObject) (api.ReplayWebhookResponseObject, error) {
	since, last := r.Body.Since.Time, r.Body.LastEventID
	if since.IsZero() == (last == "") {
		return nil, fault.New(fault.Validation, "exactly one of since and lastEventId is required")
	}
	replay := events.WebhookReplayed{Since: since.UTC()}
	if last != "" {
		replay = events.WebhookReplayed{}
		var err error
		if replay.Position, err = a.Webhooks.FeedPosition(ctx, r.WebhookID, last); err != nil {
			return nil, err
		}
	}
	w := webhookWrite{"ReplayWebhook", r.WebhookID, r.Params.IdempotencyKey, r.Body, nil}
	replayed, tag, err := changeWebhook(ctx, a, w, commands.ReplayWebhook{ID: r.WebhookID, Replay: replay})
	return api.ReplayWebhook200JSONResponse{Body: replayed, Headers: api.ReplayWebhook200ResponseHeaders{ETag: tag}}, err
}

// DeleteWebhook implements DELETE /webhooks/{webhook_id}. Repeating it under its key gives
// the same response.
func (a *API) DeleteWebhook(ctx context.Context, r api.DeleteWebhookRequestObject) (api.DeleteWebhookResponseObject, error) {
	w, err := change(ctx, "DeleteWebhook", r.WebhookID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	_, err = a.once(ctx, w, func() error {
		account, _, err := a.Webhooks.AdmitWebhookChange(ctx, r.WebhookID, nil)
		if err != nil {
			return err
		}
		_, err = handle.Command[commands.Webhook](ctx, a.Commands, w.existing(account), w.origin, commands.DeleteWebhook{ID: r.WebhookID})
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.DeleteWebhook200JSONResponse{ID: r.WebhookID, Status: api.WebhookDeletionStatusDeleted}, nil
}
