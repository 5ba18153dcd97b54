package service

import (
	"context"
	"time"

	"netsim/billing/prices"
	"netsim/events"
	"netsim/infra/directory"
	"netsim/infra/projector"
)

// Grant grants credit to an account and reports whether it did. It needs a running
// service. A reference is unique in its account, so repeating a grant does nothing.
func (t *Tools) Grant(ctx context.Context, account string, credit events.CreditGranted) (granted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err = t.writing(ctx, func(ctx context.Context) (err error) {
		granted, err = prices.Grant(ctx, t.core.handler, account, credit)
		return err
	})
	return granted, err
}

// ForgetUser removes the name of a user from the directory and reports whether the
// directory had it. The events stay, because they contain only the user's id.
func (t *Tools) ForgetUser(ctx context.Context, userID string) (bool, error) {
	names := directory.Directory{Pool: t.core.pool, Now: time.Now}
	return names.Forget(ctx, userID)
}

// writing runs use with a connected command handler.
func (t *Tools) writing(ctx context.Context, use func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	t.core.watcher = projector.NewWatcher(t.pool, t.core.log)
	listening := make(chan error, 1)
	go func() { listening <- t.core.watcher.Run(ctx) }()
	defer func() {
		cancel()
		<-listening
	}()
	if err := t.core.openWriteLog(ctx); err != nil {
		return err
	}
	return use(ctx)
}
