package service

import (
	"context"
	"fmt"
	"time"

	"netsim/billing/prices"
	"netsim/commands"
)

// ApplyRates makes the rates of the platform those of a list, by the log of a
// running service, once the plan of it has been agreed to.
func (t *Tools) ApplyRates(ctx context.Context, list prices.List, agreed func(prices.Plan) (bool, error)) error {
	return t.writing(ctx, func(ctx context.Context) error {
		platform, err := t.core.platform(ctx)
		if err != nil {
			return err
		}
		plan, err := prices.NewPlan(list, t.core.config.Platform, platform, time.Now())
		if err != nil {
			return err
		}
		if yes, err := agreed(plan); err != nil || !yes {
			return err
		}
		return plan.Apply(ctx, t.core.handler)
	})
}

// platform is the price list as it stands.
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
