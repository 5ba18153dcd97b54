package main

import (
	"context"
	"fmt"

	"netsim/internal/service"
)

type logging struct {
	Seal sealLog `cmd:"" help:"Demand from here on that records bear a seal, and retire the writer's keys that were the first before this one."`
}

type sealLog struct{}

// Run demands seals.
func (sealLog) Run(ctx context.Context) error {
	return withTools(ctx, func(t *service.Tools) error {
		sealed, err := t.SealLog(ctx)
		if err == nil {
			_, err = fmt.Printf("%d partitions demand the seal of this key from here on; the others did before\n", sealed)
		}
		return err
	})
}
