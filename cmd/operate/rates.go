package operate

import (
	"context"
	"fmt"
	"time"

	"netsim/billing/prices"
	"netsim/cmd/connections"
	"netsim/commands"
)

// ApplyRates applies a price list to the platform if confirm returns true for the plan.
// It needs a running service.
func (t *Tools) ApplyRates(ctx context.Context, list prices.List, confirm func(prices.Plan) (bool, error)) error {
	return t.writing(ctx, func(ctx context.Context, w *connections.Writer) error {
		platform, err := t.platform(ctx, w)
		if err != nil {
			return err
		}
		plan, err := prices.NewPlan(list, t.conn.Config.Platform, platform, time.Now())
		if err != nil {
			return err
		}
		if yes, err := confirm(plan); err != nil || !yes {
			return err
		}
		return plan.Apply(ctx, w.Handler)
	})
}

// platform returns the current price list.
func (t *Tools) platform(ctx context.Context, w *connections.Writer) (commands.Platform, error) {
	stream := commands.PlatformStream(t.conn.Config.Platform)
	found, err := w.Log.Load(ctx, stream, "")
	if err != nil {
		return commands.Platform{}, err
	}
	state, err := commands.ReadState(stream, found.State)
	if err != nil {
		return commands.Platform{}, err
	}
	p, ok := state.(*commands.Platform)
	if !ok {
		return commands.Platform{}, fmt.Errorf("stream %s holds a %T", stream, state)
	}
	return *p, nil
}
