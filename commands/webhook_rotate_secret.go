package commands

import (
	"time"

	"netsim/events"
)

// RotateWebhookSecret gives a webhook a new secret. The former one signs too for the
// overlap; an overlap of an earlier rotation ends.
type RotateWebhookSecret struct {
	ID      string
	KeyID   string // of the key from which the new secret is derived
	Overlap time.Duration
}

// Decide implements Command.
func (c RotateWebhookSecret) Decide(w *Webhook, now time.Time) (events.Data, error) {
	if err := w.live(c.ID); err != nil {
		return nil, err
	}
	return events.WebhookSecretRotated{Generation: w.Generation + 1, KeyID: c.KeyID, FormerUntil: now.Add(c.Overlap)}, nil
}
