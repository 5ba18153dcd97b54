package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// SetLegacyProject binds a workspace to a project of the older service, once.
// Repeating it changes nothing; another project is a Conflict.
type SetLegacyProject struct {
	ID              string
	LegacyProjectID string
}

// Decide implements Command.
func (c SetLegacyProject) Decide(w *Workspace, _ time.Time) (events.Data, error) {
	if err := w.live(c.ID); err != nil {
		return nil, err
	}
	switch w.LegacyProjectID {
	case "":
		return events.WorkspaceLegacyProjectSet{LegacyProjectID: c.LegacyProjectID}, nil
	case c.LegacyProjectID:
		return nil, nil
	}
	return nil, fault.New(fault.Conflict, "the legacy project of %s is already set to another value", c.ID)
}
