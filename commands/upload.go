package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// The states of an upload session.
const (
	UploadOpen      = "open"
	UploadCompleted = "completed"
	UploadAborted   = "aborted"
)

// ReasonDeleted is why an upload is aborted whose traceset is deleted, also
// when it had come to nothing before.
const ReasonDeleted = "deleted"

// Upload is what decisions about an upload session need.
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

// OpenUpload opens an upload session.
type OpenUpload struct {
	Opened events.UploadOpened
}

// Decide implements Command.
func (c OpenUpload) Decide(u *Upload, _ time.Time) (events.Data, error) {
	if u.Exists {
		return nil, nil
	}
	return c.Opened, nil
}

// CompleteUpload records that what was uploaded is stored and taken. One that
// is completed stays as it is: who completes it twice does so with the same
// bytes. Source: completions 6.2.
type CompleteUpload struct {
	ID        string
	Completed events.UploadCompleted
}

// Decide implements Command.
func (c CompleteUpload) Decide(u *Upload, _ time.Time) (events.Data, error) {
	switch {
	case !u.Exists:
		return nil, notFound("upload", c.ID)
	case u.Status == UploadAborted:
		return nil, fault.New(fault.Conflict, "upload %s is aborted", c.ID)
	case u.Status == UploadCompleted:
		return nil, nil
	}
	return c.Completed, nil
}

// AbortUpload ends a session of which nothing comes. Source: completions 6.2,
// 6.6.
type AbortUpload struct {
	ID     string
	Reason string // expired, refused, storage, workspace or deleted
}

// Decide implements Command.
func (c AbortUpload) Decide(u *Upload, now time.Time) (events.Data, error) {
	switch {
	case !u.Exists:
		return nil, notFound("upload", c.ID)
	case u.Deleted && c.Reason == ReasonDeleted:
		return nil, notFound("upload", c.ID)
	case u.Status == UploadAborted && c.Reason != ReasonDeleted:
		return nil, nil
	case u.Status == UploadCompleted:
		return nil, fault.New(fault.Conflict, "upload %s is completed", c.ID)
	case c.Reason == "expired" && now.Before(u.ExpiresAt):
		return nil, fault.New(fault.Conflict, "upload %s has not expired", c.ID)
	}
	return events.UploadAborted{Reason: c.Reason}, nil
}
