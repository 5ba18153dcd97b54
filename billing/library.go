package billing

import (
	"context"
	"strconv"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
)

// settleLibrary opens or closes the item of a library of traceset files. An
// account pays for one copy of a library, while any of its tracesets refers to
// it.
//
// The tracesets can be in several workspaces, so their facts arrive in any order.
// Each step therefore reads the current state. Its command id derives from the
// library's latest item, so that two reactions to the same change record one step.
func (m *Metering) settleLibrary(ctx context.Context, f events.Fact, account, hash string) error {
	if account == "" {
		return nil // a curated traceset, which no account pays for
	}
	var booked int64 // the ended item whose costs this attempt has booked
	for {
		item, err := projections.LatestLibraryItem(ctx, m.DB, account, hash)
		if err != nil {
			return err
		}
		first, err := projections.FirstTraceset(ctx, m.DB, account, hash)
		if err != nil {
			return err
		}
		switch active := item != nil && item.EndedAt == nil; {
		case active && first != nil:
			return nil
		case active, item != nil && item.ID != booked: // an earlier attempt may have ended the item, and not booked its costs
			from := handle.System("usage", account, hash, strconv.FormatInt(item.ID, 10), commands.UsageStop).CausedBy(&f)
			if err := m.stop(ctx, f, item, from); err != nil {
				return err
			}
			booked = item.ID
		case first == nil:
			return nil
		default:
			previous := "none"
			if item != nil {
				previous = strconv.FormatInt(item.ID, 10)
			}
			from := handle.System("usage", account, hash, previous, commands.UsageStart).CausedBy(&f)
			if err := m.start(ctx, f, account, from, events.UsageRecorded{
				Meter: events.MeterStorage, ItemName: first.Name, CurrentCount: storageUnits(first.TotalSize),
				WorkspaceID: first.WorkspaceID, UserID: personOf(f),
				ResourceType: resourceTraceset, ResourceID: first.ID, SizeBytes: first.TotalSize,
			}); err != nil {
				return err
			}
		}
	}
}
