package billing

import (
	"context"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// AccessLog records look-ups of billing data by a person's name.
type AccessLog struct{ Commands *handle.Handler }

// Record writes a look-up to the stream of the caller's account. A caller for the
// whole platform has the account "", and its look-ups have a stream of their own.
func (l *AccessLog) Record(ctx context.Context, account, correlationID string, access events.AccessLogged) error {
	if account == "" {
		account = events.DerivedID(events.AccountPrefix, "platform")
	}
	from := handle.Origin{Actor: access.Caller, CorrelationID: correlationID}
	_, err := onAccount(ctx, l.Commands, account, from, commands.LogAccess{Access: access})
	return err
}
