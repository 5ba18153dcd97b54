package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// CompleteUpload records that the uploaded files are stored and accepted. Repeating
// it changes nothing. Source: completions 6.2.
type CompleteUpload struct {
	ID        string
	Completed events.UploadCompleted
}

// Decide implements Command.
func (c CompleteUpload) Decide(u *Upload, _ time.Time) (events.Data, error) {
	switch {
	case !u.Exists:
		return nil, fault.Missing("upload", c.ID)
	case u.Status == UploadAborted:
		return nil, fault.New(fault.Conflict, "upload %s is aborted", c.ID)
	case u.Status == UploadCompleted:
		return nil, nil
	}
	return c.Completed, nil
}
