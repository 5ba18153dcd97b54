package commands

import (
	"strings"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/rating"
)

// GrantCredit adds credit to an account. Its command id derives from the
// reference, which is unique within the account: a repeated grant does nothing.
type GrantCredit struct{ Granted events.CreditGranted }

// Decide implements Command.
func (c GrantCredit) Decide(*Account, time.Time) (events.Data, error) {
	g := c.Granted
	if strings.TrimSpace(g.Reference) == "" {
		return nil, fault.New(fault.Validation, "a reference is required")
	}
	if err := rating.CheckCredit(g.Amount, g.Currency); err != nil {
		return nil, fault.New(fault.Validation, "%v", err)
	}
	return g, nil
}
