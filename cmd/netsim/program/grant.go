package program

import (
	"context"
	"time"

	"netsim/events"
	"netsim/infra/projector"
	"netsim/prices"
)

// Grant gives an account credit, by the log of a running service. The reference
// is unique within the account, so repeating a grant is harmless.
func (t *Tools) Grant(ctx context.Context, account string, credit events.CreditGranted) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	t.core.watcher = projector.NewWatcher(t.pool, "", t.core.log)
	listening := make(chan error, 1)
	go func() { listening <- t.core.watcher.Run(ctx) }()
	defer func() {
		cancel()
		<-listening
	}()
	if err := t.core.openLedger(ctx); err != nil {
		return err
	}
	return prices.Grant(ctx, t.core.handler, account, credit)
}
