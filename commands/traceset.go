package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// The states of a traceset (completions 6.1). During the upload the traceset does
// not exist yet.
const (
	TracesetProcessing     = "processing"
	TracesetReady          = "ready"
	TracesetMetadataFailed = "metadata_failed"
)

// The scopes of a traceset, from the narrowest to the widest.
const (
	ScopeWorkspace = "workspace"
	ScopeTenant    = "tenant"
	ScopePublic    = "public"
)

// Traceset is the state that decisions about a traceset need.
type Traceset struct {
	created
	requested
	Status      string    `json:"status,omitempty"`
	Scope       string    `json:"scope,omitempty"`
	HasWorkload bool      `json:"hasWorkload,omitempty"` // has workload metadata
	TTLDays     int64     `json:"ttlDays,omitempty"`
	UsedAt      time.Time `json:"usedAt,omitzero"`
	ExpiresAt   time.Time `json:"expiresAt,omitzero"` // zero: never
	Deleted     bool      `json:"deleted,omitempty"`
}

// Evolve applies an event.
func (t *Traceset) Evolve(e events.Event) {
	switch d := e.Data.(type) {
	case events.TracesetCreated:
		*t = Traceset{created: created{Exists: true}, requested: requested{e.CorrelationID}, Status: d.Status, Scope: d.Scope, HasWorkload: d.Workload != "", TTLDays: d.TTLDays}
		if t.Scope == "" {
			t.Scope = ScopeWorkspace
		}
		if t.Scope == ScopeWorkspace {
			t.UsedAt, t.ExpiresAt = e.Time, e.Time.AddDate(0, 0, int(d.TTLDays))
		}
	case events.TracesetMetadataExtracted:
		t.Status = TracesetReady
	case events.TracesetMetadataFailed:
		t.Status = TracesetMetadataFailed
	case events.TracesetPromoted:
		t.Scope, t.ExpiresAt = d.To, time.Time{}
		t.HasWorkload = t.HasWorkload || d.Workload != ""
	case events.TracesetUsed:
		t.UsedAt, t.ExpiresAt = e.Time, d.ExpiresAt
	case events.TracesetDeleted:
		t.Deleted = true
	}
}

// live returns NotFound unless the traceset exists.
func (t *Traceset) live(id string) error {
	if !t.Exists || t.Deleted {
		return fault.Missing("traceset", id)
	}
	return nil
}
