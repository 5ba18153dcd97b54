package commands

import (
	"time"

	"netsim/events"
)

// LogAccess records a look-up of billing data by a person's name.
type LogAccess struct{ Access events.AccessLogged }

// Decide implements Command.
func (c LogAccess) Decide(*Account, time.Time) (events.Data, error) { return c.Access, nil }
