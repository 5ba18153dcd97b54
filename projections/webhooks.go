package projections

import (
	"encoding/json"
	"fmt"
	"strings"
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
	Workspaces  string // of the reach, with spaces between; AllWorkspaces for all of the account
	Billing     bool   // whether the reach has billing
	Status      string // commands.WebhookActive, WebhookPaused or WebhookDisabled
	Reason      string // why it is disabled
	StoppedAt   *time.Time
	Generation  int64 // of the secret
	KeyID       string
	FormerKeyID string
	FormerUntil *time.Time
	Replays     int64
	StartSince  *time.Time // where it begins; nil with a position
	Position    string     // family/partition:offset, with spaces between
	Version     int64
	Deleted     bool
	CreatedAt   time.Time
	ModifiedAt  time.Time
}

// AllWorkspaces stands for all workspaces of the account in Webhook.Workspaces.
const AllWorkspaces = "*"

// Filter returns which events the webhook sends.
func (w *Webhook) Filter() (f commands.WebhookFilter, err error) {
	f = commands.WebhookFilter{Family: w.Family, Stream: w.Stream, WorkspaceID: w.WorkspaceID}
	if err := json.Unmarshal([]byte(w.Types), &f.Types); err != nil {
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

func foldWebhook(w *Webhook, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.WebhookCreated:
		*w = Webhook{
			ID: f.Stream, AccountID: d.AccountID, CreatedBy: d.CreatedBy, Billing: d.Billing, Workspaces: strings.Join(d.Workspaces, " "),
			KeyID: d.KeyID, Generation: 1, Status: commands.WebhookActive, StartSince: timeOf(f), CreatedAt: f.Time,
		}
		if d.AllWorkspaces {
			w.Workspaces = AllWorkspaces
		}
		w.send(d.URL, d.Description, commands.WebhookFilter{Types: d.Types, Family: d.Family, Stream: d.Stream, WorkspaceID: d.WorkspaceID})
	case events.WebhookUpdated:
		w.send(d.URL, d.Description, commands.WebhookFilter{Types: d.Types, Family: d.Family, Stream: d.Stream, WorkspaceID: d.WorkspaceID})
	case events.WebhookSecretRotated:
		until := d.FormerUntil
		w.FormerKeyID, w.FormerUntil = w.KeyID, &until
		w.Generation, w.KeyID = d.Generation, d.KeyID
	case events.WebhookPaused:
		w.Status, w.StoppedAt = commands.WebhookPaused, timeOf(f)
	case events.WebhookResumed:
		w.Status, w.Reason, w.StoppedAt = commands.WebhookActive, "", nil
	case events.WebhookDisabled:
		w.Status, w.Reason, w.StoppedAt = commands.WebhookDisabled, d.Reason, timeOf(f)
	case events.WebhookReplayed:
		w.Replays++
		w.StartSince, w.Position = nil, strings.Join(d.Position, " ")
		if since := d.Since; !since.IsZero() {
			w.StartSince = &since
		}
	case events.WebhookDeleted:
		w.Deleted = true
	}
	w.Version++
	w.ModifiedAt = f.Time
}

// send sets where the webhook posts, and what.
func (w *Webhook) send(url, description string, f commands.WebhookFilter) {
	w.URL, w.Description = url, description
	w.Types, w.Family, w.Stream, w.WorkspaceID = textOf(f.Types), f.Family, f.Stream, f.WorkspaceID
}

// After returns the row after an event. w is the row at the version before it, or any
// when the event is the first.
func (w Webhook) After(e *events.Event) Webhook {
	if e.Sequence == 1 {
		return begun(foldWebhook, e)
	}
	foldWebhook(&w, &events.Fact{Event: *e})
	return w
}
