package commands

import (
	"time"

	"netsim/events"
)

// ReplayWebhook lets a webhook send again from a time or a position on. Each one begins
// another replay.
type ReplayWebhook struct {
	ID     string
	Replay events.WebhookReplayed
}

// Decide implements Command.
func (c ReplayWebhook) Decide(w *Webhook, _ time.Time) (events.Data, error) {
	if err := w.live(c.ID); err != nil {
		return nil, err
	}
	return c.Replay, nil
}
