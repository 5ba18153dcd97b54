// Package writeapi answers the operations that change something: a handler
// decodes the request, sends one command, and answers from the read model,
// where the change is visible when the command returns. It sees neither SQL
// nor Kafka nor a table; what it must know beforehand it asks through the
// interfaces below.
package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
)

// API has the POST, PATCH and DELETE operations but the preview's.
type API struct {
	Commands   *commands.Handler
	Workspaces Workspaces
	// Gate returns PaymentRequired when the account's credit is exhausted.
	Gate func(ctx context.Context, account string) error
	// Unfold makes the traceset and the configuration of a simple submission.
	// Repeating it changes nothing.
	Unfold func(ctx context.Context, simulation string, requested events.SimulationRequested) error
}

// Workspaces are the workspaces as reads show them.
type Workspaces interface {
	// AdmitWorkspace returns NotFound unless the workspace is live and of the
	// caller's account, Forbidden unless the caller is a member.
	AdmitWorkspace(ctx context.Context, id string) error
	// AdmitWorkspaceDeletion is the same, but one that is being deleted passes.
	AdmitWorkspaceDeletion(ctx context.Context, id string) error
	// Workspace returns the workspace and its entity tag.
	Workspace(ctx context.Context, id string) (api.Workspace, string, error)
}
