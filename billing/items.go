package billing

import (
	"cmp"
	"context"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
)

// open opens an item because of a fact. What belongs to no account, as the
// built-in workspaces do, is not billed.
func (b *Books) open(ctx context.Context, f events.Fact, account string, u events.UsageRecorded) error {
	if account == "" {
		return nil
	}
	from := causedBy(f)
	from.CommandID = derivedCommand("usage", f.ID, u.ResourceType, commands.UsageStart)
	return b.start(ctx, f, account, from, u)
}

func (b *Books) start(ctx context.Context, f events.Fact, account string, from handle.Origin, u events.UsageRecorded) error {
	item, err := BillingItemIDs.Next(ctx, b.DB, 1)
	if err != nil {
		return err
	}
	u.BillingItemID, u.Action, u.RateName = item[0], commands.UsageStart, u.Meter
	return b.record(ctx, f, account, from, u)
}

// update changes the units of an open item. A fact older than the item's last
// change, which is one that comes again, changes nothing.
func (b *Books) update(ctx context.Context, f events.Fact, item *projections.BillingItem, units, size int64) error {
	if item.EndedAt != nil || f.Time.Before(item.ChangedAt) {
		return nil
	}
	from := causedBy(f)
	from.CommandID = derivedCommand("usage", f.ID, item.ResourceType, commands.UsageUpdate)
	u := usageOf(item, f)
	u.Action, u.CurrentCount, u.SizeBytes = commands.UsageUpdate, units, size
	return b.record(ctx, f, item.AccountID, from, u)
}

// close closes the item of the fact's stream, if it has one, and books its
// costs.
func (b *Books) close(ctx context.Context, f events.Fact, resourceType string) error {
	item, err := projections.LatestBillingItem(ctx, b.DB, resourceType, f.Stream)
	if err != nil || item == nil {
		return err
	}
	from := causedBy(f)
	from.CommandID = derivedCommand("usage", f.ID, resourceType, commands.UsageStop)
	return b.stop(ctx, f, item, from)
}

// stop closes an item unless it is closed, and books what its days until then
// cost: also when it was closed by an earlier run that went no further.
func (b *Books) stop(ctx context.Context, f events.Fact, item *projections.BillingItem, from handle.Origin) error {
	if item.EndedAt == nil {
		u := usageOf(item, f)
		u.Action, u.CurrentCount = commands.UsageStop, 0
		if err := b.record(ctx, f, item.AccountID, from, u); err != nil {
			return err
		}
	}
	return b.bookClosed(ctx, f, item)
}

// usageOf begins a billing event of an item that there is. What the service
// does is done for whoever opened the item.
func usageOf(i *projections.BillingItem, f events.Fact) events.UsageRecorded {
	return events.UsageRecorded{
		BillingItemID: i.ID, Meter: i.Meter, RateName: i.RateName, ItemName: i.ItemName, PreviousCount: i.Quantity,
		WorkspaceID: i.WorkspaceID, SandboxID: i.SandboxID, UserID: cmp.Or(personOf(f), i.UserID),
		ResourceType: i.ResourceType, ResourceID: i.ResourceID, Ranks: i.Ranks, SizeBytes: i.SizeBytes, Engine: i.Engine,
	}
}

func (b *Books) record(ctx context.Context, f events.Fact, account string, from handle.Origin, u events.UsageRecorded) error {
	id, err := BillingEventIDs.Next(ctx, b.DB, 1)
	if err != nil {
		return err
	}
	u.BillingEventID, u.CauseType, u.OccurredAt = id[0], f.Type, f.Time
	return b.run(ctx, account, from, commands.RecordUsage{Usage: u})
}

// run runs a command on an account.
func (b *Books) run(ctx context.Context, account string, from handle.Origin, c commands.Command[commands.Account]) error {
	_, err := handle.Command(ctx, b.Commands, handle.Target{Stream: account, PartitionKey: account}, from, c)
	return err
}

func derivedCommand(parts ...string) string { return events.DerivedUUID(parts...).String() }
