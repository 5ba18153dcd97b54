package billing

import (
	"context"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// LogAccess writes down that billing was looked up by a person's name, on the
// stream of the caller's account. A caller for the whole platform, whose
// account is "", has a stream of its own for that.
func (b *Books) LogAccess(ctx context.Context, account, correlationID string, access events.AccessLogged) error {
	if account == "" {
		account = events.DerivedID(events.AccountPrefix, "platform")
	}
	return b.run(ctx, account,
		handle.Origin{Actor: access.Caller, CorrelationID: correlationID}, commands.LogAccess{Access: access})
}
