package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// AbortUpload ends a session without a result. Repeating it changes nothing, or with
// the reason "deleted" is NotFound. Source: completions 6.2, 6.6.
type AbortUpload struct {
	ID     string
	Reason string // expired, refused, storage, workspace or deleted
}

// Decide implements Command.
func (c AbortUpload) Decide(u *Upload, now time.Time) (events.Data, error) {
	switch {
	case !u.Exists:
		return nil, fault.Missing("upload", c.ID)
	case u.Deleted && c.Reason == ReasonDeleted:
		return nil, fault.Missing("upload", c.ID)
	case u.Status == UploadAborted && c.Reason != ReasonDeleted:
		return nil, nil
	case u.Status == UploadCompleted:
		return nil, fault.New(fault.Conflict, "upload %s is completed", c.ID)
	case c.Reason == "expired" && now.Before(u.ExpiresAt):
		return nil, fault.New(fault.Conflict, "upload %s has not expired", c.ID)
	}
	return events.UploadAborted{Reason: c.Reason}, nil
}
