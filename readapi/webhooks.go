package readapi

import (
	"context"
	"encoding/base64"
	"strconv"
	"time"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
	"netsim/stream/webhooks"
)

// Webhooks implements the operations of webhooks that change none. It also makes what
// package writeapi and the deliverer need of them.
type Webhooks struct {
	*Events
	// Attempts returns at most limit attempts of a webhook before a number, newest first,
	// and the counts at the same moment. The number 0 stands for the newest.
	Attempts func(ctx context.Context, webhook string, before int64, limit int) ([]webhooks.Attempt, webhooks.Counts, error)
	// Send sends a test message to a webhook and returns what came of it.
	Send func(ctx context.Context, s webhooks.Subscription) (webhooks.Attempt, error)
	Now  func() time.Time
}

// ListWebhooks implements GET /webhooks.
func (h *Webhooks) ListWebhooks(ctx context.Context, r api.ListWebhooksRequestObject) (api.ListWebhooksResponseObject, error) {
	l, err := newListing(ctx, h.Cursors, r, 100)
	if err != nil {
		return nil, err
	}
	rows, next, err := projections.ListWebhooks(ctx, h.DB, projections.WebhookQuery{Seen: access.Webhooks(l.caller), Page: l.page})
	if err != nil {
		return nil, err
	}
	list := make([]api.Webhook, 0, len(rows))
	for i := range rows {
		one, err := h.viewOf(&rows[i])
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return api.ListWebhooks200JSONResponse{Webhooks: list, Pagination: l.pagination(len(list), next)}, nil
}

// GetWebhook implements GET /webhooks/{webhook_id}.
func (h *Webhooks) GetWebhook(ctx context.Context, r api.GetWebhookRequestObject) (api.GetWebhookResponseObject, error) {
	row, err := h.WebhookRow(ctx, r.WebhookID)
	if err != nil {
		return nil, err
	}
	tag := web.ETag(row.Version)
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.GetWebhook304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	view, err := h.viewOf(&row)
	return api.GetWebhook200JSONResponse{Body: view, Headers: api.GetWebhook200ResponseHeaders{ETag: tag}}, err
}

// TestWebhook implements POST /webhooks/{webhook_id}/test.
func (h *Webhooks) TestWebhook(ctx context.Context, r api.TestWebhookRequestObject) (api.TestWebhookResponseObject, error) {
	row, err := h.WebhookRow(ctx, r.WebhookID)
	if err != nil {
		return nil, err
	}
	one, err := h.Subscription(ctx, &row)
	if err != nil {
		return nil, err
	}
	attempt, err := h.Send(ctx, one)
	return api.TestWebhook200JSONResponse(attemptOf(&attempt)), err
}

// ListWebhookAttempts implements GET /webhooks/{webhook_id}/attempts. The page and the
// counts are of one snapshot.
func (h *Webhooks) ListWebhookAttempts(ctx context.Context, r api.ListWebhookAttemptsRequestObject) (api.ListWebhookAttemptsResponseObject, error) {
	l, err := newListing(ctx, h.Cursors, r, 100)
	if err != nil {
		return nil, err
	}
	if _, err := h.WebhookRow(ctx, r.WebhookID); err != nil {
		return nil, err
	}
	before := int64(0)
	if after := l.page.After; after != nil {
		if len(after) != 1 {
			return nil, errCursor()
		}
		if before, err = strconv.ParseInt(after[0], 10, 64); err != nil {
			return nil, errCursor()
		}
	}
	found, counts, err := h.Attempts(ctx, r.WebhookID, before, l.page.Limit+1)
	if err != nil {
		return nil, err
	}
	var next []string
	if len(found) > l.page.Limit {
		found = found[:l.page.Limit]
		next = []string{strconv.FormatInt(found[l.page.Limit-1].Number, 10)}
	}
	return api.ListWebhookAttempts200JSONResponse{
		Attempts: api.Each(found, attemptOf), Pagination: l.pagination(len(found), next),
		Counts: api.WebhookCounts{Waiting: counts.Waiting, Delivered: counts.Delivered, Failed: counts.Failed, GivenUp: counts.Dropped},
	}, nil
}

func attemptOf(a *webhooks.Attempt) api.WebhookAttempt {
	outcome := map[webhooks.Outcome]api.WebhookAttemptOutcome{
		webhooks.Delivered: api.WebhookAttemptOutcomeDelivered, webhooks.Failed: api.WebhookAttemptOutcomeFailed,
		webhooks.Dropped: api.WebhookAttemptOutcomeGivenUp,
	}[a.Outcome]
	return api.WebhookAttempt{
		MessageID: a.Message, EventID: a.Event, EventType: a.Type, Stream: a.Stream, Attempt: int64(a.Count), StartedAt: timestamp(a.At),
		DurationMs: a.Duration.Milliseconds(), Outcome: outcome, Status: int64(a.Status), Error: a.Error, Excerpt: a.Excerpt,
		NextAttemptAt: timestampOf(a.Next),
	}
}

// viewOf returns a webhook as clients see it, without its secret.
func (h *Webhooks) viewOf(w *projections.Webhook) (api.Webhook, error) {
	f, err := w.Filter()
	if err != nil {
		return api.Webhook{}, err
	}
	view := api.Webhook{
		ID: w.ID, URL: w.URL, Description: w.Description, State: api.WebhookState(w.Status), Reason: w.Reason,
		Filter:    api.WebhookFilter{Type: f.Types, Family: api.EventFamily(f.Family), Stream: f.Stream, Workspace: f.WorkspaceID},
		StoppedAt: timestampOf(w.StoppedAt), SecretGeneration: w.Generation, ReplayedFrom: timestampOf(w.ReplayedFrom),
		Version: w.Version, CreatedBy: w.CreatedBy, CreatedAt: timestamp(w.CreatedAt), ModifiedAt: timestamp(w.ModifiedAt),
	}
	if w.FormerUntil != nil && w.FormerUntil.After(h.Now()) {
		view.OverlapEndsAt = timestampOf(w.FormerUntil)
	}
	return view, nil
}

// AdmitWebhookFilter returns nil if the caller may follow the events that the filter asks
// for, as GET /events does.
func (h *Webhooks) AdmitWebhookFilter(ctx context.Context, f commands.WebhookFilter) error {
	caller, err := access.Caller(ctx)
	if err == nil {
		_, err = h.query(ctx, caller, parametersOf(f))
	}
	return err
}

// RoomForWebhook returns Conflict if the account has as many webhooks as it may.
func (h *Webhooks) RoomForWebhook(ctx context.Context, account string) error {
	const most = 20
	count, err := projections.CountWebhooks(ctx, h.DB, account)
	if err == nil && count >= most {
		err = fault.New(fault.Conflict, "the account has %d webhooks, and may have %d; delete one", count, most)
	}
	return err
}

// WebhookView returns the view of a webhook that a command makes.
func (h *Webhooks) WebhookView(id string) view[api.Webhook] {
	return h.webhookAfter(projections.Webhook{ID: id})
}

// AdmitWebhookChange returns the account of a webhook that the caller may change, and its
// view after a change. The error is also that of the filter, unless that is nil: the
// webhook keeps the reach of its maker when another caller changes it.
func (h *Webhooks) AdmitWebhookChange(ctx context.Context, id string, f *commands.WebhookFilter) (account string, _ view[api.Webhook], err error) {
	w, err := h.WebhookRow(ctx, id)
	if err == nil && f != nil {
		var maker auth.Caller
		if maker, err = callerOf(&w); err == nil {
			err = h.AdmitWebhookFilter(auth.WithCaller(ctx, maker), *f)
		}
	}
	return w.AccountID, h.webhookAfter(w), err
}

func (h *Webhooks) webhookAfter(before projections.Webhook) view[api.Webhook] {
	return func(ctx context.Context, e *events.Event, state commands.State) (_ api.Webhook, tag string, err error) {
		var w projections.Webhook
		if made, ok := state.(*commands.Webhook); ok {
			w = before.After(e, made)
		} else if w, err = h.WebhookRow(ctx, before.ID); err != nil {
			return api.Webhook{}, "", err
		}
		view, err := h.viewOf(&w)
		return view, web.ETag(w.Version), err
	}
}

// WebhookKey returns from which key the secret of a generation derives.
func (h *Webhooks) WebhookKey(ctx context.Context, id string, generation int64) (key string, err error) {
	w, err := h.WebhookRow(ctx, id)
	if err == nil && w.Generation != generation {
		err = fault.New(fault.Conflict, "webhook %s has another secret meanwhile", id)
	}
	return w.KeyID, err
}

// FeedPosition returns the position that the id of an event of a feed has, in base64. The
// feed must have been asked for what the webhook sends, by a caller who sees the same.
func (h *Webhooks) FeedPosition(ctx context.Context, id, lastEventID string) (string, error) {
	w, err := h.WebhookRow(ctx, id)
	if err != nil {
		return "", err
	}
	f, err := w.Filter()
	if err != nil {
		return "", err
	}
	maker, err := callerOf(&w)
	if err != nil {
		return "", err
	}
	parameters := parametersOf(f)
	q, err := h.query(auth.WithCaller(ctx, maker), maker, parameters)
	if err != nil {
		return "", err
	}
	losses, err := h.Losses(ctx)
	if err != nil {
		return "", err
	}
	sealed, err := h.positions(maker, *parameters, &q, losses)
	if err != nil {
		return "", err
	}
	position, err := sealed.open(lastEventID)
	return base64.RawURLEncoding.EncodeToString(position), err
}
