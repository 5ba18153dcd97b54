package main

import (
	"context"
	"fmt"

	"netsim/internal/service"
)

type logging struct {
	Seal sealLog `cmd:"" help:"Demand a seal on all further records, and retire the writer keys that were first in NETSIM_WRITER_KEYS before the current one."`
}

type sealLog struct{}

// Run demands seals.
func (sealLog) Run(ctx context.Context) error {
	return withTools(ctx, func(t *service.Tools) error {
		sealed, err := t.SealLog(ctx)
		if err == nil {
			_, err = fmt.Printf("%d partitions demand the seal of this key from now on; the others already did\n", sealed)
		}
		return err
	})
}
