package auth

import (
	"context"
	"slices"

	"netsim/events"
)

// AllAccounts is the account of a platform-wide service token: it may act for
// every account. A user token never carries it.
const AllAccounts = "*"

// Caller is the sender of a request, from the claims of a verified token
// (completions.md section 1.6). All requests with the same token share a Caller,
// so it must not be changed.
type Caller struct {
	// UserID is opaque: it is derived from the account, the issuer and the claim
	// sub, which may be an email address. Events and responses contain UserID only.
	UserID   string
	UserName string // the claim name, or Subject if there is none
	Subject  string // the claim sub; older events contain it as the user id
	Service  bool   // the token is a service token

	Billing  bool // has the role billing: reads the billing of the account
	Operator bool // has the role operator: operates the platform

	AccountID   string // AllAccounts in a platform-wide service token
	AccountName string
	Platform    string

	AllWorkspaces bool     // every workspace of the account
	Workspaces    []string // sorted; empty when AllWorkspaces

	SandboxID   string
	SandboxName string
}

// MemberOf reports whether the token gives access to the workspace. It does not
// check that the workspace belongs to the caller's account. The built-in
// workspaces are open to every caller.
func (c Caller) MemberOf(workspaceID string) bool {
	return events.BuiltIn(workspaceID) || c.Names(workspaceID)
}

// Names reports whether the token lists the workspace, or all workspaces.
func (c Caller) Names(workspaceID string) bool {
	_, found := slices.BinarySearch(c.Workspaces, workspaceID)
	return found || c.AllWorkspaces
}

// Platformwide reports whether the caller acts for every account.
func (c Caller) Platformwide() bool { return c.Service && c.AccountID == AllAccounts }

// Roles returns the roles of the caller that mean something here.
func (c Caller) Roles() []string {
	roles := []string{}
	if c.Billing {
		roles = append(roles, BillingRole)
	}
	if c.Operator {
		roles = append(roles, OperatorRole)
	}
	return roles
}

// ReadsBilling reports whether the caller reads billing: that of its account, or of every
// account if it is Platformwide, which a person never is.
func (c Caller) ReadsBilling() bool { return c.Service || c.Billing }

// textBytes returns the total length of the caller's strings.
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

type recheckKey struct{}

// WithRecheck returns a context with the function that Recheck calls. Authenticate keeps
// that of a handler in front of it, which knows more of the caller than the token says.
func WithRecheck(ctx context.Context, recheck func(context.Context) error) context.Context {
	return context.WithValue(ctx, recheckKey{}, recheck)
}

// Recheck verifies the token of a request again, for a response that takes long. The
// error is Unauthorized when the token has expired or the issuer has withdrawn its
// key, and Unavailable while that cannot be known. It is nil for a context that
// Authenticate has not made.
func Recheck(ctx context.Context) error {
	recheck, ok := ctx.Value(recheckKey{}).(func(context.Context) error)
	if !ok {
		return nil
	}
	return recheck(ctx)
}

// CallerFrom returns the caller of the request, or false if the request was not
// authenticated.
func CallerFrom(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(*Caller)
	if !ok {
		return Caller{}, false
	}
	return *c, true
}
