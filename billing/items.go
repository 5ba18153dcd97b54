package billing

import (
	"cmp"
	"context"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
)

// open opens an item because of a fact. Resources without an account, such as
// the built-in workspaces, are not billed.
func (m *Metering) open(ctx context.Context, f events.Fact, account string, u events.UsageRecorded) error {
	if account == "" {
		return nil
	}
	from := handle.System("usage", f.ID, u.ResourceType, commands.UsageStart).CausedBy(&f)
	return m.start(ctx, f, account, from, u)
}

func (m *Metering) start(ctx context.Context, f events.Fact, account string, from handle.Origin, u events.UsageRecorded) error {
	u.Action, u.RateName = commands.UsageStart, u.Meter
	return m.record(ctx, f, account, from, u)
}

// update changes the units of an open item. A fact older than the item's last
// change was handled before and changes nothing.
func (m *Metering) update(ctx context.Context, f events.Fact, item *projections.BillingItem, units, size int64) error {
	if item.EndedAt != nil || f.Time.Before(item.ChangedAt) {
		return nil
	}
	from := handle.System("usage", f.ID, item.ResourceType, commands.UsageUpdate).CausedBy(&f)
	u := usageOf(item, f)
	u.Action, u.CurrentCount, u.SizeBytes = commands.UsageUpdate, units, size
	return m.record(ctx, f, item.AccountID, from, u)
}

// close closes the item of the fact's stream, if it has one, and books its
// costs.
func (m *Metering) close(ctx context.Context, f events.Fact, resourceType string) error {
	item, err := m.lookups.LatestItem(ctx, resourceType, f.Stream)
	if err != nil || item == nil {
		return err
	}
	from := handle.System("usage", f.ID, resourceType, commands.UsageStop).CausedBy(&f)
	return m.stop(ctx, f, item, from)
}

// stop closes an item that is open, and books its days. It books them for a
// closed item too: an earlier attempt may have stopped after closing it.
func (m *Metering) stop(ctx context.Context, f events.Fact, item *projections.BillingItem, from handle.Origin) error {
	if item.EndedAt == nil {
		u := usageOf(item, f)
		u.Action, u.CurrentCount = commands.UsageStop, 0
		if err := m.record(ctx, f, item.AccountID, from, u); err != nil {
			return err
		}
	}
	last, err := m.lookups.LastRated(ctx, item.ID)
	if err != nil {
		return err
	}
	return m.Books.bookClosed(ctx, f, item, last)
}

// usageOf returns a billing event of an existing item, without its action and
// count. If the service caused the fact, the event's user is the one who opened
// the item.
func usageOf(i *projections.BillingItem, f events.Fact) events.UsageRecorded {
	return events.UsageRecorded{
		BillingItemID: i.ID, Meter: i.Meter, RateName: i.RateName, ItemName: i.ItemName, PreviousCount: i.Quantity,
		WorkspaceID: i.WorkspaceID, SandboxID: i.SandboxID, UserID: cmp.Or(personOf(f), i.UserID),
		ResourceType: i.ResourceType, ResourceID: i.ResourceID, Ranks: i.Ranks, SizeBytes: i.SizeBytes, Engine: i.Engine,
	}
}
