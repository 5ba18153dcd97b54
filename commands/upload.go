package commands

import (
	"time"

	"netsim/events"
)

// The states of an upload session.
const (
	UploadOpen      = "open"
	UploadCompleted = "completed"
	UploadAborted   = "aborted"
)

// ReasonDeleted is the reason for aborting an upload whose traceset is deleted. It
// is recorded even if the upload was aborted before.
const ReasonDeleted = "deleted"

// Upload is the state that decisions about an upload session need.
type Upload struct {
	created
	Status    string    `json:"status,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	Deleted   bool      `json:"deleted,omitempty"` // with its traceset
}

// Evolve applies an event.
func (u *Upload) Evolve(e events.Event) {
	switch d := e.Data.(type) {
	case events.UploadOpened:
		u.Exists, u.Status, u.ExpiresAt = true, UploadOpen, d.ExpiresAt
	case events.UploadCompleted:
		u.Status = UploadCompleted
	case events.UploadAborted:
		u.Status, u.Deleted = UploadAborted, d.Reason == ReasonDeleted
	}
}
