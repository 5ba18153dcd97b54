package operate

import (
	"context"
	"time"

	"netsim/billing/prices"
	"netsim/cmd/connections"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/directory"
)

// Grant grants credit to an account and reports whether it did. It needs a running
// service. A reference is unique in its account, so repeating a grant does nothing.
func (t *Tools) Grant(ctx context.Context, account string, credit events.CreditGranted) (granted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err = t.writing(ctx, func(ctx context.Context, w *connections.Writer) (err error) {
		granted, err = prices.Grant(ctx, w.Handler, account, credit)
		return err
	})
	return granted, err
}

// ForgetUser removes the name of a user from the directory and reports whether the
// directory had it. The events stay, because they contain only the user's id.
func (t *Tools) ForgetUser(ctx context.Context, userID string) (bool, error) {
	names := directory.Directory{Pool: t.conn.Pool, Now: time.Now}
	return names.Forget(ctx, userID)
}

// SealLog demands seals with the first key of the settings in every partition from now
// on. It returns the number of partitions that changed.
func (t *Tools) SealLog(ctx context.Context) (sealed int, err error) {
	if t.conn.Keys == nil {
		return 0, settings.ErrNoWriterKeys
	}
	err = t.writing(ctx, func(ctx context.Context, w *connections.Writer) error {
		sealed, err = w.Seal(ctx)
		return err
	})
	return sealed, err
}
