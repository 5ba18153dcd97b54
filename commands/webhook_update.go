package commands

import (
	"time"

	"netsim/events"
)

// UpdateWebhook changes the URL, the description or the filter of a webhook. Setting the
// same values changes nothing.
type UpdateWebhook struct {
	ID          string
	URL         string         // "": unchanged
	Description *string        // nil: unchanged
	Filter      *WebhookFilter // nil: unchanged
	Match       Match
}

// Decide implements Command.
func (c UpdateWebhook) Decide(w *Webhook, _ time.Time) (events.Data, error) {
	if err := w.live(c.ID); err != nil {
		return nil, err
	}
	if err := c.Match.Check(w.Version); err != nil {
		return nil, err
	}
	url, description, filter := w.URL, w.Description, w.Filter
	if c.URL != "" {
		url = c.URL
	}
	if c.Description != nil {
		description = *c.Description
	}
	if c.Filter != nil {
		filter = *c.Filter
	}
	if url == w.URL && description == w.Description && filter.equal(w.Filter) {
		return nil, nil
	}
	return events.WebhookUpdated{
		URL: url, Description: description, Types: filter.Types, Family: filter.Family, Stream: filter.Stream, WorkspaceID: filter.WorkspaceID,
	}, nil
}
