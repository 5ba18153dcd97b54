package commands

import (
	"time"

	"netsim/events"
)

// DisableWebhook stops an active webhook because its receiver asked for it. One that is
// deleted, paused or disabled stays as it is: nothing more is sent there.
type DisableWebhook struct{ Reason string }

// Decide implements Command.
func (c DisableWebhook) Decide(w *Webhook, _ time.Time) (events.Data, error) {
	if !w.Exists || w.Deleted || w.Status != WebhookActive {
		return nil, nil
	}
	return events.WebhookDisabled{Reason: c.Reason}, nil
}
