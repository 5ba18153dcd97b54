package commands

import (
	"time"

	"netsim/events"
)

// ResumeWebhook lets a paused or disabled webhook go on where it stopped. An active one
// stays as it is.
type ResumeWebhook struct{ ID string }

// Decide implements Command.
func (c ResumeWebhook) Decide(w *Webhook, _ time.Time) (events.Data, error) {
	if err := w.live(c.ID); err != nil {
		return nil, err
	}
	if w.Status == WebhookActive {
		return nil, nil
	}
	return events.WebhookResumed{}, nil
}
