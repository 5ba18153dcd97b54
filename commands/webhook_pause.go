package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// PauseWebhook stops a webhook until it is resumed. Repeating it changes nothing. One that
// is disabled has stopped already, for another reason: Conflict.
type PauseWebhook struct{ ID string }

// Decide implements Command.
func (c PauseWebhook) Decide(w *Webhook, _ time.Time) (events.Data, error) {
	if err := w.live(c.ID); err != nil {
		return nil, err
	}
	switch w.Status {
	case WebhookPaused:
		return nil, nil
	case WebhookDisabled:
		return nil, fault.New(fault.Conflict, "webhook %s is disabled", c.ID)
	}
	return events.WebhookPaused{}, nil
}
