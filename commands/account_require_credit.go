package commands

import (
	"time"

	"netsim/events"
)

// RequireCredit is PaymentRequired if nothing of an account's credit is free. Otherwise it
// does nothing: the credit may be spent or held right after it.
type RequireCredit struct {
	Currency string
}

// Decide implements Command.
func (c RequireCredit) Decide(a *Account, _ time.Time) (events.Data, error) {
	_, err := a.free(c.Currency)
	return nil, err
}
