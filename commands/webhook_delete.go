package commands

import (
	"time"

	"netsim/events"
)

// DeleteWebhook deletes a webhook. Afterwards it is NotFound.
type DeleteWebhook struct{ ID string }

// Decide implements Command.
func (c DeleteWebhook) Decide(w *Webhook, _ time.Time) (events.Data, error) {
	if err := w.live(c.ID); err != nil {
		return nil, err
	}
	return events.WebhookDeleted{}, nil
}
