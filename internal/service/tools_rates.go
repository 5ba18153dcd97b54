package service

import (
	"context"
	"fmt"
	"time"

	"netsim/billing/prices"
	"netsim/commands"
)

// ApplyRates applies a price list to the platform if confirm returns true for the plan.
// It needs a running service.
func (t *Tools) ApplyRates(ctx context.Context, list prices.List, confirm func(prices.Plan) (bool, error)) error {
	return t.writing(ctx, func(ctx context.Context) error {
		platform, err := t.core.platform(ctx)
		if err != nil {
			return err
		}
		plan, err := prices.NewPlan(list, t.core.config.Platform, platform, time.Now())
		if err != nil {
			return err
		}
		if yes, err := confirm(plan); err != nil || !yes {
			return err
		}
		return plan.Apply(ctx, t.core.handler)
	})
}

// platform returns the current price list.
func (s *core) platform(ctx context.Context) (commands.Platform, error) {
	stream := commands.PlatformStream(s.config.Platform)
	found, err := s.writeLog.Load(ctx, stream, "")
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
