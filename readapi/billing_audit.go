package readapi

import (
	"context"
	"io"
	"strings"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/projections"
	"netsim/readapi/access"
)

// OpenBundle opens the bundle of an account and a period: it finds out whether it can be
// written, and returns what writes it. Days are YYYY-MM-DD, both included.
type OpenBundle func(ctx context.Context, account, from, to string, preliminary bool) (func(context.Context, io.Writer) error, error)

// GetBundle implements GET /billing/bundle.
func (b *Billing) GetBundle(ctx context.Context, r api.GetBundleRequestObject) (api.GetBundleResponseObject, error) {
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	p := r.Params
	if _, _, err := days("from", p.From, "to", p.To); err != nil {
		return nil, err
	}
	account, err := bundled(caller, p.Account)
	if err != nil {
		return nil, err
	}
	release, err := b.Bundles.begin(ctx, "bundle", account)
	if err != nil {
		return nil, err
	}
	var body *writtenBody
	defer func() {
		if body == nil { // also after a panic
			release()
		}
	}()
	write, err := b.OpenBundle(ctx, account, p.From, p.To, p.Preliminary)
	if err != nil {
		return nil, err
	}
	body = newWrittenBody(ctx, write, release)
	return api.GetBundle200ApplicationXNdjsonResponse{Body: body}, nil
}

// bundled returns the account whose bundle the caller asks for.
func bundled(caller auth.Caller, account string) (string, error) {
	own := access.Account(caller)
	switch {
	case account == "" && own == "":
		return "", fault.New(fault.Validation, "account is required of a token for every account")
	case account == "":
		return own, nil
	case !events.ValidID(events.AccountPrefix, account):
		return "", fault.New(fault.Validation, "account %q is not an account id", account)
	case own != "" && account != own:
		return "", fault.New(fault.Forbidden, "the bundle of another account needs a service token for every account")
	}
	return account, nil
}

// ListCheckpoints implements GET /billing/checkpoints: newest first.
func (b *Billing) ListCheckpoints(ctx context.Context, r api.ListCheckpointsRequestObject) (api.ListCheckpointsResponseObject, error) {
	l, err := newListing(ctx, b.Cursors, r, 50)
	if err != nil {
		return nil, err
	}
	rows, next, err := projections.ListCheckpoints(ctx, b.DB, commands.CheckpointStream(b.Platform), l.page)
	if err != nil {
		return nil, unreachable(err)
	}
	list := api.Each(rows, func(c *projections.Checkpoint) api.LogCheckpoint {
		return api.LogCheckpoint{Name: c.Name, PublishedAt: timestamp(c.PublishedAt), Hash: hash(c.Hash)}
	})
	return api.ListCheckpoints200JSONResponse{Checkpoints: list, Pagination: l.pagination(len(list), next)}, nil
}

// GetCheckpoint implements GET /billing/checkpoints/{name}.
func (b *Billing) GetCheckpoint(ctx context.Context, r api.GetCheckpointRequestObject) (api.GetCheckpointResponseObject, error) {
	row, err := projections.FindCheckpoint(ctx, b.DB, commands.CheckpointStream(b.Platform), r.Name)
	if err != nil {
		return nil, unreachable(err)
	}
	return api.GetCheckpoint200TextResponse{Body: strings.NewReader(row.Note)}, nil
}
