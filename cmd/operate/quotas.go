package operate

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"netsim/cmd/connections"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// Quotas has the limits of an account: the limits of the settings, and the limits that
// operators have set.
type Quotas struct{ Settings, Set map[string]int64 }

// QuotaText returns a limit in words.
func QuotaText(limit int64) string {
	if limit == commands.AllWorkersButOne {
		return "all workers but one"
	}
	return strconv.FormatInt(limit, 10)
}

// Quotas returns the quotas of an account.
func (t *Tools) Quotas(ctx context.Context, account string) (Quotas, error) {
	q := Quotas{}
	if !events.ValidID(events.AccountPrefix, account) {
		return q, fmt.Errorf("%q is not an account id", account)
	}
	var err error
	if q.Settings, err = t.conn.Config.QuotaLimits(); err != nil {
		return q, err
	}
	err = t.writing(ctx, func(ctx context.Context, w *connections.Writer) error {
		found, err := w.Log.Load(ctx, account, "")
		if err != nil {
			return err
		}
		state, err := commands.ReadState(account, found.State)
		if err != nil {
			return err
		}
		q.Set = state.(*commands.Account).Quotas
		return nil
	})
	return q, err
}

// SetQuotas sets quotas of an account; nil restores the limit of the settings. Processes
// apply the quotas when the read model has them.
func (t *Tools) SetQuotas(ctx context.Context, account string, limits map[string]*int64) error {
	if !events.ValidID(events.AccountPrefix, account) {
		return fmt.Errorf("%q is not an account id", account)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return t.writing(ctx, func(ctx context.Context, w *connections.Writer) error {
		_, err := handle.Command(ctx, w.Handler, handle.Target{Stream: account, PartitionKey: account},
			handle.System(), commands.SetQuotas{Limits: limits})
		return err
	})
}
