package commands

import (
	"time"

	"netsim/events"
)

// OpenUpload opens an upload session. Repeating it changes nothing.
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
