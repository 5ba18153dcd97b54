package projections

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/columns"
)

// Webhook is a row of the webhooks.
type Webhook struct {
	ID          string
	AccountID   string
	CreatedBy   string
	URL         string
	Description string
	Types       string // JSON array
	Family      string
	Stream      string
	WorkspaceID string // of the filter

	AllWorkspaces bool   // whether the reach has all workspaces of the account
	Workspaces    string // else those of the reach beside the built-in ones, a JSON array
	Billing       bool   // whether the reach has billing

	Status       string // commands.WebhookActive, WebhookPaused or WebhookDisabled
	Reason       string // why it is disabled
	StoppedAt    *time.Time
	Generation   int64 // of the secret
	KeyID        string
	FormerKeyID  string
	FormerUntil  *time.Time
	Replays      int64
	ReplayedFrom *time.Time // of the last replay, if it began at a time
	StartSince   *time.Time // where it begins; nil with a position
	Position     string     // of a feed, base64
	Version      int64
	Deleted      bool
	CreatedAt    time.Time
	ModifiedAt   time.Time
}

// Reach returns the workspaces that the webhook sends events of, beside the built-in ones.
func (w *Webhook) Reach() (workspaces []string, err error) {
	if err := json.Unmarshal([]byte(w.Workspaces), &workspaces); err != nil {
		return nil, fmt.Errorf("read the workspaces of %s: %w", w.ID, err)
	}
	return workspaces, nil
}

// Filter returns which events the webhook sends.
func (w *Webhook) Filter() (f commands.WebhookFilter, err error) {
	f = commands.WebhookFilter{Family: w.Family, Stream: w.Stream, WorkspaceID: w.WorkspaceID}
	if err := json.Unmarshal([]byte(cmp.Or(w.Types, "[]")), &f.Types); err != nil {
		return f, fmt.Errorf("read the types of %s: %w", w.ID, err)
	}
	if len(f.Types) == 0 {
		f.Types = nil
	}
	return f, nil
}

// Webhooks is the projection of the webhooks.
type Webhooks struct{ table[Webhook] }

// NewWebhooks returns the projection.
func NewWebhooks() *Webhooks {
	return &Webhooks{table[Webhook]{
		name: "webhooks", file: "webhooks.sql", columns: webhookColumns,
		keyOf: streamOf(events.WebhookPrefix), first: begins, insertsNew: true,
		fold: foldWebhook,
	}}
}

var webhookColumns = columns.Of[Webhook]()

// foldWebhook applies a change with the Evolve of the write state, so clients read the
// state that commands decide on.
func foldWebhook(w *Webhook, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.WebhookCreated:
		*w = Webhook{
			ID: f.Stream, AccountID: d.AccountID, CreatedBy: d.CreatedBy, CreatedAt: f.Time, StartSince: timeOf(f),
			AllWorkspaces: d.AllWorkspaces, Workspaces: textOf(d.Workspaces), Billing: d.Billing,
		}
	case events.WebhookReplayed:
		w.StartSince, w.Position = nil, d.Position
		if since := d.Since; !since.IsZero() {
			w.StartSince = &since
		}
	}
	s := w.state()
	s.Evolve(f.Event)
	w.change(&s, f.Time)
}

// state returns the write state of the row.
func (w *Webhook) state() commands.Webhook {
	s := commands.Webhook{
		AccountID: w.AccountID, URL: w.URL, Description: w.Description, Status: w.Status, Reason: w.Reason,
		Generation: w.Generation, KeyID: w.KeyID, FormerKeyID: w.FormerKeyID, Replays: w.Replays, Version: w.Version, Deleted: w.Deleted,
	}
	s.Filter, _ = w.Filter() //nolint:errcheck // the fold wrote it
	s.FormerUntil, s.StoppedAt, s.Since = timeIn(w.FormerUntil), timeIn(w.StoppedAt), timeIn(w.ReplayedFrom)
	return s
}

// change copies what a change can affect from the write state after it.
func (w *Webhook) change(s *commands.Webhook, at time.Time) {
	w.URL, w.Description, w.Status, w.Reason = s.URL, s.Description, s.Status, s.Reason
	w.Types, w.Family, w.Stream, w.WorkspaceID = textOf(s.Filter.Types), s.Filter.Family, s.Filter.Stream, s.Filter.WorkspaceID
	w.Generation, w.KeyID, w.FormerKeyID = s.Generation, s.KeyID, s.FormerKeyID
	w.FormerUntil, w.StoppedAt, w.ReplayedFrom = present(s.FormerUntil), present(s.StoppedAt), present(s.Since)
	w.Replays, w.Version, w.Deleted, w.ModifiedAt = s.Replays, s.Version, s.Deleted, at
}

// timeIn returns the time of a column, zero for NULL.
func timeIn(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}

// present returns a pointer to a copy of the time, nil for the zero one.
func present(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// After returns the row after an event that created or changed the webhook. s is the write
// state after the event, w the row at any time before it.
func (w Webhook) After(e *events.Event, s *commands.Webhook) Webhook {
	if e.Sequence == 1 {
		return begun(foldWebhook, e)
	}
	w.change(s, e.Time)
	return w
}
