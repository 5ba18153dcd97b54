package readapi

import (
	"context"
	"encoding/base64"
	"fmt"

	"netsim/api"
	"netsim/commands"
	"netsim/infra/auth"
	"netsim/projections"
	"netsim/stream/webhooks"
)

// Subscription returns a webhook as the deliverer needs it: with the query of GET /events
// for what the webhook asks for and its maker may see.
func (e *EventFilters) Subscription(ctx context.Context, w *projections.Webhook) (s webhooks.Subscription, err error) {
	f, err := w.Filter()
	if err != nil {
		return s, err
	}
	maker, err := callerOf(w)
	if err != nil {
		return s, err
	}
	s = webhooks.Subscription{
		ID: w.ID, Version: w.Version, URL: w.URL, Active: w.Status == commands.WebhookActive, Replay: int(w.Replays),
		Secrets: []webhooks.Secret{{Key: w.KeyID, Generation: int(w.Generation)}},
	}
	if w.FormerUntil != nil {
		s.Secrets = append(s.Secrets, webhooks.Secret{Key: w.FormerKeyID, Generation: int(w.Generation) - 1, Until: *w.FormerUntil})
	}
	if w.StartSince != nil {
		s.Since = *w.StartSince
	}
	if w.Position != "" {
		if s.Position, err = base64.RawURLEncoding.DecodeString(w.Position); err != nil {
			return s, fmt.Errorf("read the position of %s: %w", w.ID, err)
		}
	}
	s.Query, err = e.query(auth.WithCaller(ctx, maker), maker, parametersOf(f))
	return s, err
}

// callerOf returns a caller who sees what the webhook may send.
func callerOf(w *projections.Webhook) (auth.Caller, error) {
	workspaces, err := w.Reach()
	if w.AllWorkspaces {
		workspaces = nil
	}
	return auth.Caller{
		UserID: w.CreatedBy, AccountID: w.AccountID, AllWorkspaces: w.AllWorkspaces, Workspaces: workspaces, Billing: w.Billing,
	}, err
}

// parametersOf returns the parameters of a feed with the events of a filter.
func parametersOf(f commands.WebhookFilter) *api.FollowEventsParams {
	return &api.FollowEventsParams{Type: f.Types, Family: api.FollowEventsParamsFamily(f.Family), Stream: f.Stream, Workspace: f.WorkspaceID}
}
