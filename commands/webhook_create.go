package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// CreateWebhook makes a webhook. Its id is new or derives from the idempotency key, so
// that a repeated request makes one webhook.
type CreateWebhook struct{ Created events.WebhookCreated }

// Decide implements Command.
func (c CreateWebhook) Decide(w *Webhook, _ time.Time) (events.Data, error) {
	if w.Exists {
		return nil, fault.New(fault.Conflict, "the webhook exists")
	}
	return c.Created, nil
}
