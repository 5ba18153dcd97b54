package service

import (
	"context"
	"fmt"
	"maps"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// Quotas has the limits of an account: the limits of the settings, and the limits that
// operators have set.
type Quotas struct{ Settings, Set map[string]int64 }

// Quotas returns the quotas of an account.
func (t *Tools) Quotas(ctx context.Context, account string) (Quotas, error) {
	q := Quotas{}
	if !events.ValidID(events.AccountPrefix, account) {
		return q, fmt.Errorf("%q is not an account id", account)
	}
	var err error
	if q.Settings, err = t.core.config.quotas(); err != nil {
		return q, err
	}
	err = t.writing(ctx, func(ctx context.Context) error {
		found, err := t.core.writeLog.Load(ctx, account, "")
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
	return t.writing(ctx, func(ctx context.Context) error {
		_, err := handle.Command(ctx, t.core.handler, handle.Target{Stream: account, PartitionKey: account},
			handle.System(), commands.SetQuotas{Limits: limits})
		return err
	})
}

// quotas returns the limits of the settings, which apply to accounts without their own.
func (c *Config) quotas() (map[string]int64, error) {
	all := commands.DefaultQuotas()
	for name, limit := range c.Quotas {
		if err := commands.CheckQuota(name, limit); err != nil {
			return nil, fmt.Errorf("NETSIM_QUOTAS: %w", err)
		}
	}
	maps.Copy(all, c.Quotas)
	return all, nil
}
