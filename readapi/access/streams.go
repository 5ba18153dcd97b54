package access

import (
	"context"
	"strings"

	"netsim/events"
	"netsim/fault"
	"netsim/projections"
)

// AdmitStream returns nil if the caller sees the events of the stream by the rule of
// Streams, and the rule. Forbidden is for streams whose kind the caller may not read, and
// if membership of the workspace is all that is missing. Another account's stream is
// NotFound, as a missing one. Billing says whether billing has operations.
func (a *Access) AdmitStream(ctx context.Context, id string, billing bool) (EventRule, projections.Owner, error) {
	caller, err := Caller(ctx)
	if err != nil {
		return EventRule{}, projections.Owner{}, err
	}
	rule := Streams(caller, billing)
	if _, err := events.FamilyOf(id); err != nil {
		return rule, projections.Owner{}, fault.New(fault.Validation, "stream %q is not the id of a stream", id)
	}
	switch prefix, _, _ := strings.Cut(id, "_"); prefix {
	case events.AccountPrefix, events.PlatformPrefix:
		return rule, projections.Owner{}, rule.admitBilling(prefix, id)
	case events.CheckpointPrefix, events.OperationPrefix, events.SealPrefix:
		if !rule.everything() {
			return rule, projections.Owner{}, fault.New(fault.Forbidden, "the streams of the platform need a service token for every account or the role operator")
		}
		return rule, projections.Owner{}, nil
	}
	found, err := projections.Owners(ctx, a.DB, []string{id})
	if err != nil {
		return rule, projections.Owner{}, err
	}
	if len(found) == 0 {
		return rule, projections.Owner{}, fault.Missing("stream", id)
	}
	owner := projections.Owner{AccountID: found[0].AccountID, WorkspaceID: found[0].WorkspaceID}
	everywhere := caller
	everywhere.AllWorkspaces = true
	switch {
	case rule.Has("", id, owner):
		return rule, owner, nil
	case Streams(everywhere, billing).Has("", id, owner):
		return rule, owner, notMember(owner.WorkspaceID)
	}
	return rule, owner, fault.Missing("stream", id)
}

// admitBilling returns nil if the caller reads the stream of an account or of the prices.
func (r EventRule) admitBilling(prefix, id string) error {
	switch {
	case r.operator:
		return nil
	case !r.billing:
		return fault.New(fault.Forbidden, "the streams of billing need a service token or the role billing")
	case prefix == events.AccountPrefix && r.Account() != "" && r.Account() != id:
		return fault.Missing("stream", id)
	}
	return nil
}

// Knows reports whether the caller may know that a stream, which belongs to the account
// and the workspace, has events: it sees them, or they are its account's.
func (r EventRule) Knows(stream string, owner projections.Owner) bool {
	account := owner.AccountID
	if strings.HasPrefix(stream, events.AccountPrefix+"_") {
		account = stream
	}
	return r.Account() == "" || account == r.Account() || r.Has("", stream, owner)
}
