package writeapi

import (
	"context"
	"time"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
)

// WebhookViews reads webhooks. Package readapi implements it.
type WebhookViews interface {
	// AdmitWebhookFilter returns nil if the caller may follow the events of the filter.
	AdmitWebhookFilter(ctx context.Context, f commands.WebhookFilter) error
	// RoomForWebhook returns Conflict if the account may have no more webhooks.
	RoomForWebhook(ctx context.Context, account string) error
	// AdmitWebhookChange returns the account of a webhook and the view after a change. It
	// returns NotFound or Forbidden unless the caller may change the webhook, and refuses a
	// filter that is not nil as GET /events does.
	AdmitWebhookChange(ctx context.Context, id string, f *commands.WebhookFilter) (account string, _ View[api.Webhook], err error)
	// WebhookView returns the view of a webhook that a command makes.
	WebhookView(id string) View[api.Webhook]
	// WebhookKey returns the id of the key from which the secret of a generation derives,
	// or Conflict if it is not the newest.
	WebhookKey(ctx context.Context, id string, generation int64) (key string, err error)
	// FeedPosition returns the position, in base64, of an id that a feed with the webhook's
	// filter had, or Validation.
	FeedPosition(ctx context.Context, id, lastEventID string) (string, error)
}

// WebhookSecrets derives the secrets of webhooks.
type WebhookSecrets interface {
	// Current returns the id of the key for new secrets; ok is false if there is none.
	Current() (id string, ok bool)
	// Secret returns the secret of a generation of a webhook.
	Secret(keyID, webhook string, generation int) (string, error)
}

// WebhookURLs refuses URLs to which no webhook can be sent.
type WebhookURLs func(url string) error

// check returns Validation for such a URL.
func (c WebhookURLs) check(url string) error {
	if err := c(url); err != nil {
		return &fault.Fault{Code: fault.Validation, Message: "url: " + err.Error(), Cause: err}
	}
	return nil
}

// defaultOverlap is how long a secret signs after its rotation, if the request does not say.
const defaultOverlap = 24 * time.Hour

// CreateWebhook implements POST /webhooks. A repetition under its key gets the same secret.
func (a *API) CreateWebhook(ctx context.Context, r api.CreateWebhookRequestObject) (api.CreateWebhookResponseObject, error) {
	w, err := create(ctx, "CreateWebhook", events.WebhookPrefix, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	key, ok := a.WebhookSecrets.Current()
	if !ok {
		return nil, fault.New(fault.NotFound, "no such resource") // the flag is off then
	}
	f := filterOf(&r.Body.Filter)
	created := events.WebhookCreated{
		AccountID: w.caller.AccountID, CreatedBy: w.caller.UserID, URL: r.Body.URL, Description: r.Body.Description,
		Types: f.Types, Family: f.Family, Stream: f.Stream, WorkspaceID: f.WorkspaceID,
		AllWorkspaces: w.caller.AllWorkspaces, Workspaces: w.caller.Workspaces, Billing: w.caller.ReadsBilling(), KeyID: key,
	}
	var result handle.Result
	done, err := a.once(ctx, w, func() error {
		if err := a.WebhookURLs.check(r.Body.URL); err != nil {
			return err
		}
		if err := a.Webhooks.AdmitWebhookFilter(ctx, f); err != nil {
			return err
		}
		if err := a.Webhooks.RoomForWebhook(ctx, w.caller.AccountID); err != nil {
			return err
		}
		result, err = handle.Command[commands.Webhook](ctx, a.Commands, w.to(w.caller.AccountID), w.origin, commands.CreateWebhook{Created: created})
		return err
	})
	if err != nil {
		return nil, err
	}
	after := a.Webhooks.WebhookView(w.stream)
	if done || result.Repeated {
		if _, after, err = a.Webhooks.AdmitWebhookChange(ctx, w.stream, nil); err != nil {
			return nil, err
		}
	}
	made, tag, err := a.withSecret(ctx, after, result)
	return api.CreateWebhook201JSONResponse{Body: made, Headers: api.CreateWebhook201ResponseHeaders{
		ETag: tag, Location: "/api/v1/webhooks/" + made.ID,
	}}, err
}

// withSecret returns a webhook after a command that made a secret, with the secret.
func (a *API) withSecret(ctx context.Context, after View[api.Webhook], result handle.Result) (made api.Webhook, tag string, err error) {
	if made, tag, err = after(ctx, result.Event, result.State); err != nil {
		return made, tag, err
	}
	var key string
	if state, ok := result.State.(*commands.Webhook); ok {
		key = state.KeyID
	} else if key, err = a.Webhooks.WebhookKey(ctx, made.ID, made.SecretGeneration); err != nil {
		return made, tag, err
	}
	made.Secret, err = a.WebhookSecrets.Secret(key, made.ID, int(made.SecretGeneration))
	return made, tag, err
}

func filterOf(f *api.WebhookFilter) commands.WebhookFilter {
	return commands.WebhookFilter{Types: f.Type, Family: string(f.Family), Stream: f.Stream, WorkspaceID: f.Workspace}
}

// UpdateWebhook implements PATCH /webhooks/{webhook_id}.
func (a *API) UpdateWebhook(ctx context.Context, r api.UpdateWebhookRequestObject) (api.UpdateWebhookResponseObject, error) {
	match, err := matchOf(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	change := commands.UpdateWebhook{ID: r.WebhookID, URL: r.Body.URL, Description: r.Body.Description, Match: match}
	if r.Body.Filter != nil {
		f := filterOf(r.Body.Filter)
		change.Filter = &f
	}
	if change.URL != "" {
		if err := a.WebhookURLs.check(change.URL); err != nil {
			return nil, err
		}
	}
	changed, tag, err := changeWebhook(ctx, a, webhookWrite{"UpdateWebhook", r.WebhookID, r.Params.IdempotencyKey, r.Body, change.Filter}, change)
	return api.UpdateWebhook200JSONResponse{Body: changed, Headers: api.UpdateWebhook200ResponseHeaders{ETag: tag}}, err
}

// RotateWebhookSecret implements POST /webhooks/{webhook_id}/rotate-secret.
func (a *API) RotateWebhookSecret(ctx context.Context, r api.RotateWebhookSecretRequestObject) (api.RotateWebhookSecretResponseObject, error) {
	key, ok := a.WebhookSecrets.Current()
	if !ok {
		return nil, fault.New(fault.NotFound, "no such resource")
	}
	overlap := defaultOverlap
	if given := r.Body.OverlapSeconds; given != nil {
		overlap = time.Duration(*given) * time.Second
	}
	w := webhookWrite{"RotateWebhookSecret", r.WebhookID, r.Params.IdempotencyKey, r.Body, nil}
	result, after, err := runWebhook(ctx, a, w, commands.RotateWebhookSecret{ID: r.WebhookID, KeyID: key, Overlap: overlap})
	if err != nil {
		return nil, err
	}
	rotated, tag, err := a.withSecret(ctx, after, result)
	return api.RotateWebhookSecret200JSONResponse{Body: rotated, Headers: api.RotateWebhookSecret200ResponseHeaders{ETag: tag}}, err
}
