package commands

import (
	"slices"
	"time"

	"netsim/events"
	"netsim/fault"
)

// The states of a webhook.
const (
	WebhookActive   = "active"
	WebhookPaused   = "paused"
	WebhookDisabled = "disabled"
)

// WebhookFilter says which events a webhook sends: those that meet all of it. A zero
// member asks for nothing.
type WebhookFilter struct {
	Types       []string `json:"types,omitempty"`
	Family      string   `json:"family,omitempty"`
	Stream      string   `json:"stream,omitempty"`
	WorkspaceID string   `json:"workspaceId,omitempty"`
}

// equal reports whether two filters ask for the same in the same words.
func (f WebhookFilter) equal(other WebhookFilter) bool {
	return slices.Equal(f.Types, other.Types) && f.Family == other.Family && f.Stream == other.Stream && f.WorkspaceID == other.WorkspaceID
}

// Webhook is the state that decisions about a webhook need.
type Webhook struct {
	created
	AccountID   string        `json:"accountId,omitempty"`
	URL         string        `json:"url,omitempty"`
	Description string        `json:"description,omitempty"`
	Filter      WebhookFilter `json:"filter,omitzero"`
	Status      string        `json:"status,omitempty"` // WebhookActive, WebhookPaused or WebhookDisabled
	Generation  int64         `json:"generation,omitempty"`
	KeyID       string        `json:"keyId,omitempty"` // of the generation
	FormerKeyID string        `json:"formerKeyId,omitempty"`
	FormerUntil time.Time     `json:"formerUntil,omitzero"` // zero before the first rotation
	Reason      string        `json:"reason,omitempty"`     // why it is disabled
	StoppedAt   time.Time     `json:"stoppedAt,omitzero"`   // since when it is not active
	Replays     int64         `json:"replays,omitempty"`
	Since       time.Time     `json:"since,omitzero"` // of the last replay, if it began at a time
	Version     int64         `json:"version,omitempty"`
	Deleted     bool          `json:"deleted,omitempty"`
}

// Evolve applies an event.
func (w *Webhook) Evolve(e events.Event) {
	switch d := e.Data.(type) {
	case events.WebhookCreated:
		w.Exists, w.AccountID, w.URL, w.Description, w.KeyID = true, d.AccountID, d.URL, d.Description, d.KeyID
		w.Filter = WebhookFilter{Types: d.Types, Family: d.Family, Stream: d.Stream, WorkspaceID: d.WorkspaceID}
		w.Status, w.Generation = WebhookActive, 1
	case events.WebhookUpdated:
		w.URL, w.Description = d.URL, d.Description
		w.Filter = WebhookFilter{Types: d.Types, Family: d.Family, Stream: d.Stream, WorkspaceID: d.WorkspaceID}
	case events.WebhookSecretRotated:
		w.FormerKeyID, w.FormerUntil = w.KeyID, d.FormerUntil
		w.Generation, w.KeyID = d.Generation, d.KeyID
	case events.WebhookPaused:
		w.Status, w.StoppedAt = WebhookPaused, e.Time
	case events.WebhookResumed:
		w.Status, w.Reason, w.StoppedAt = WebhookActive, "", time.Time{}
	case events.WebhookDisabled:
		w.Status, w.Reason, w.StoppedAt = WebhookDisabled, d.Reason, e.Time
	case events.WebhookReplayed:
		w.Replays++
		w.Since = d.Since
	case events.WebhookDeleted:
		w.Deleted = true
	}
	w.Version++
}

// live returns NotFound for a webhook that does not exist or is deleted.
func (w *Webhook) live(id string) error {
	if !w.Exists || w.Deleted {
		return fault.Missing("webhook", id)
	}
	return nil
}
