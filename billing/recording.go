package billing

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// usage is a billing event to record on its account's stream.
type usage struct {
	ctx     context.Context // of the reaction, for its values
	account string
	from    handle.Origin
	events.UsageRecorded
}

const (
	// recordDelay is how long a billing event may wait for others. No client waits for
	// billing events, but each transaction delays the commands of users.
	recordDelay = 50 * time.Millisecond
	maxRecorded = 1024 // billing events that are recorded together
	maxAccounts = 8    // accounts that are written to at once
)

// record records a billing event because of a fact, together with those of other
// reactions. Items that open get their ids here.
func (m *Metering) record(ctx context.Context, f events.Fact, account string, from handle.Origin, u events.UsageRecorded) error {
	u.CauseType, u.OccurredAt = f.Type, f.Time
	err, _, missed := m.usages.Get(ctx, &usage{ctx, account, from, u}) //nolint:revive // the value is an error
	if missed != nil {
		return missed
	}
	return err
}

// recordAll records billing events, and returns the errors of those that failed.
func (m *Metering) recordAll(ctx context.Context, all []*usage) (map[*usage]error, error) {
	if err := m.takeIDs(ctx, all); err != nil {
		return nil, err
	}
	accounts := map[string][]*usage{}
	for _, u := range all {
		accounts[u.account] = append(accounts[u.account], u)
	}
	found := make([]map[*usage]error, 0, len(accounts))
	var writes errgroup.Group
	writes.SetLimit(maxAccounts)
	for account, some := range accounts {
		failed := map[*usage]error{}
		found = append(found, failed)
		writes.Go(func() error {
			m.recordOn(ctx, account, some, failed)
			return nil
		})
	}
	writes.Wait() //nolint:errcheck // each has its own errors
	errs := map[*usage]error{}
	for _, failed := range found {
		for u, err := range failed {
			errs[u] = err
		}
	}
	return errs, nil
}

// recordOn records billing events of one account.
func (m *Metering) recordOn(ctx context.Context, account string, all []*usage, failed map[*usage]error) {
	sent := make([]handle.Sent[commands.Account], len(all))
	for i, u := range all {
		sent[i] = handle.Sent[commands.Account]{From: u.from, Command: commands.RecordUsage{Usage: u.UsageRecorded}, Values: u.ctx}
	}
	_, errs := handle.Each(ctx, m.Commands, handle.Target{Stream: account, PartitionKey: account}, sent)
	for i, err := range errs {
		if err != nil {
			failed[all[i]] = err
		}
	}
}

// takeIDs takes the ids of billing events, and of the items that open.
func (m *Metering) takeIDs(ctx context.Context, all []*usage) error {
	var opened []*usage
	for _, u := range all {
		if u.BillingItemID == 0 {
			opened = append(opened, u)
		}
	}
	ids, err := BillingEventIDs.Next(ctx, m.DB, len(all))
	if err != nil {
		return err
	}
	for i, u := range all {
		u.BillingEventID = ids[i]
	}
	if len(opened) == 0 {
		return nil
	}
	if ids, err = BillingItemIDs.Next(ctx, m.DB, len(opened)); err != nil {
		return err
	}
	for i, u := range opened {
		u.BillingItemID = ids[i]
	}
	return nil
}
