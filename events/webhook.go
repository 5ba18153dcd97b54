package events

import "time"

// webhookEvents lists the events of webhooks.
func webhookEvents() []entry {
	return []entry{
		of[WebhookCreated](),
		of[WebhookUpdated](),
		of[WebhookSecretRotated](),
		of[WebhookPaused](),
		of[WebhookResumed](),
		of[WebhookDisabled](),
		of[WebhookReplayed](),
		of[WebhookDeleted](),
	}
}

// WebhookCreated records that events are posted to a URL from now on. Its secret is
// derived from the key and the generation 1, and in no event. The workspaces and billing
// are what the caller could see, and so what the webhook sends at most.
type WebhookCreated struct {
	AccountID     string   `json:"accountId"`
	CreatedBy     string   `json:"createdBy"` // user id
	URL           string   `json:"url"`
	Description   string   `json:"description,omitempty"`
	Types         []string `json:"types,omitempty"` // of the events; absent: every type
	Family        string   `json:"family,omitempty"`
	Stream        string   `json:"stream,omitempty"`
	WorkspaceID   string   `json:"workspaceId,omitempty"`
	AllWorkspaces bool     `json:"allWorkspaces,omitempty"` // of the account
	Workspaces    []string `json:"workspaces,omitempty"`    // without AllWorkspaces; the built-in ones are not listed
	Billing       bool     `json:"billing,omitempty"`
	KeyID         string   `json:"keyId"` // of the key from which the secret is derived
}

// WebhookUpdated records that the URL, the description or the filter of a webhook changed.
// It has all new values.
type WebhookUpdated struct {
	URL         string   `json:"url"`
	Description string   `json:"description,omitempty"`
	Types       []string `json:"types,omitempty"`
	Family      string   `json:"family,omitempty"`
	Stream      string   `json:"stream,omitempty"`
	WorkspaceID string   `json:"workspaceId,omitempty"`
}

// WebhookSecretRotated records that a webhook has a new secret.
type WebhookSecretRotated struct {
	Generation  int64     `json:"generation"`  // of the new secret, from 2
	KeyID       string    `json:"keyId"`       // of the key from which it is derived
	FormerUntil time.Time `json:"formerUntil"` // until when the secret before it signs too
}

// WebhookPaused records that nothing is sent until the webhook is resumed.
type WebhookPaused struct{}

// WebhookResumed records that a paused or disabled webhook goes on where it stopped.
type WebhookResumed struct{}

// WebhookDisabled records that the service stopped sending, because the receiver asked for
// it.
type WebhookDisabled struct {
	Reason string `json:"reason"`
}

// WebhookReplayed records that a webhook sends again what was recorded from a time or from
// a position on. It has one of them.
type WebhookReplayed struct {
	Since    time.Time `json:"since,omitzero"`
	Position string    `json:"position,omitempty"` // of a feed with the filter of the webhook, base64
}

// WebhookDeleted records that a webhook was deleted, with what it had yet to send.
type WebhookDeleted struct{}

func (WebhookCreated) EventType() string       { return "netsim.webhook.created.v1" }
func (WebhookUpdated) EventType() string       { return "netsim.webhook.updated.v1" }
func (WebhookSecretRotated) EventType() string { return "netsim.webhook.secret_rotated.v1" }
func (WebhookPaused) EventType() string        { return "netsim.webhook.paused.v1" }
func (WebhookResumed) EventType() string       { return "netsim.webhook.resumed.v1" }
func (WebhookDisabled) EventType() string      { return "netsim.webhook.disabled.v1" }
func (WebhookReplayed) EventType() string      { return "netsim.webhook.replayed.v1" }
func (WebhookDeleted) EventType() string       { return "netsim.webhook.deleted.v1" }
