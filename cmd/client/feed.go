package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"netsim/cmd/table"
	netsim "netsim/sdk/go"
	"netsim/sdk/go/api"
)

type feed struct {
	options
	Type      []string `placeholder:"TYPE" help:"Only these types, such as netsim.simulation.completed.v1; separated by commas or repeated."`
	Family    string   `placeholder:"NAME" help:"Only this family, such as simulations."`
	Stream    string   `placeholder:"ID" predictor:"simulation" help:"Only this stream, such as a simulation."`
	Workspace string   `placeholder:"ID" predictor:"workspace" help:"Only this workspace and what it owns."`
	Account   string   `placeholder:"ID" help:"Only this account, for a service token for every account."`
	Since     string   `placeholder:"WHEN" help:"Begin with what was recorded since this time, such as 2026-11-27T00:00:00Z, or in this duration, such as 10m. When absent: now."`
	Position  string   `type:"path" placeholder:"FILE" help:"Go on after the position in this file, and keep it there. Then --since is for the first time only."`
	Count     int      `short:"n" placeholder:"N" help:"End after this many events."`
}

// Validate implements kong.Validatable.
func (c feed) Validate() error {
	if c.Count < 0 {
		return errors.New("--count must be above zero")
	}
	if _, err := c.since(time.Time{}); err != nil {
		return err
	}
	return c.options.Validate()
}

func (c feed) since(now time.Time) (*time.Time, error) {
	if c.Since == "" {
		return nil, nil //nolint:nilnil // now
	}
	if before, err := time.ParseDuration(c.Since); err == nil {
		return new(now.Add(-before.Abs())), nil
	}
	at, err := time.Parse(time.RFC3339, c.Since)
	if err != nil {
		return nil, fmt.Errorf("--since must be a time such as 2026-11-27T00:00:00Z or a duration such as 10m; it is %q", c.Since)
	}
	return &at, nil
}

var errEnough = errors.New("enough events")

// Run prints the events of the feed until it has enough, or the user ends it.
func (c feed) Run(ctx context.Context, t *Terminal) error {
	return c.follow(ctx, t, func(_ context.Context, s *session, event netsim.Event) error {
		return s.printLine(t, answer{event.Raw, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, event.Time.UTC().Format("2006-01-02T15:04:05.000Z"), table.Printable(event.Type), table.Printable(event.Subject))
			return err
		}})
	})
}

// follow calls handle with the events of the feed until it has enough, or the user ends it.
func (c feed) follow(ctx context.Context, t *Terminal, handle func(context.Context, *session, netsim.Event) error) error {
	return c.run(ctx, t, func(ctx context.Context, s *session) error {
		since, err := c.since(t.Now())
		if err != nil {
			return err
		}
		params := api.FollowEventsParams{
			Type: c.Type, Stream: given(c.Stream), Workspace: given(c.Workspace), Account: given(c.Account), Since: since,
		}
		if c.Family != "" {
			params.Family = new(api.FollowEventsParamsFamily(c.Family))
		}
		store := &counted{Store: &netsim.MemoryStore{}, left: c.Count}
		if c.Position != "" {
			store.Store = netsim.FileStore(c.Position)
		}
		err = s.Follow(ctx, params, store, func(ctx context.Context, event netsim.Event) error {
			store.seen = true
			return handle(ctx, s, event)
		})
		if errors.Is(err, errEnough) || errors.Is(context.Cause(ctx), context.Canceled) {
			return nil
		}
		return err
	})
}

// counted is a store that ends the feed after the position of the last wanted event is kept.
type counted struct {
	netsim.Store
	left int  // 0 is without end
	seen bool // an event since the last position
}

// Save implements [netsim.Store].
func (c *counted) Save(ctx context.Context, position string) error {
	if err := c.Store.Save(ctx, position); err != nil {
		return err
	}
	if c.seen && c.left > 0 {
		if c.left--; c.left == 0 {
			return errEnough
		}
	}
	c.seen = false
	return nil
}
