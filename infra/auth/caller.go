package auth

import (
	"context"
	"slices"

	"netsim/events"
)

// AllAccounts is the account of a platform-wide service token: it may act for
// every account. A user token never carries it.
const AllAccounts = "*"

// Caller is who sent a request, as the claims of a verified token say
// (completions.md section 1.6). A Caller is shared by every request with the
// same token: read it, do not change it.
type Caller struct {
	// UserID is opaque: it derives from the account, the issuer and the claim
	// sub, which may be an address. It is what events and answers say.
	UserID   string
	UserName string // Subject when the token has no name
	Subject  string // of the token; UserIDs of the past
	Service  bool   // a machine-to-machine token

	AccountID   string // AllAccounts for a platform-wide service
	AccountName string
	Platform    string

	AllWorkspaces bool     // every workspace of the account
	Workspaces    []string // sorted; empty when AllWorkspaces

	SandboxID   string
	SandboxName string
}

// MemberOf reports whether the caller may work in the workspace. It does not
// say that the workspace is of the caller's account. The built-in workspaces
// are open to everyone.
func (c Caller) MemberOf(workspaceID string) bool {
	return events.BuiltIn(workspaceID) || c.Names(workspaceID)
}

// Names reports whether the token itself gives access to the workspace: by its
// id, or to all of them.
func (c Caller) Names(workspaceID string) bool {
	_, found := slices.BinarySearch(c.Workspaces, workspaceID)
	return found || c.AllWorkspaces
}

// Platformwide reports whether the caller acts for every account.
func (c Caller) Platformwide() bool { return c.Service && c.AccountID == AllAccounts }

// textBytes is the length of all that the caller's strings hold.
func (c Caller) textBytes() (n int) {
	for _, text := range append([]string{
		c.UserID, c.UserName, c.Subject, c.AccountID, c.AccountName, c.Platform, c.SandboxID, c.SandboxName,
	}, c.Workspaces...) {
		n += len(text)
	}
	return n
}

type callerKey struct{}

// WithCaller returns a context that carries the caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, &c)
}

// CallerFrom returns the caller of the request, and false where the request
// was not authenticated.
func CallerFrom(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(*Caller)
	if !ok {
		return Caller{}, false
	}
	return *c, true
}
