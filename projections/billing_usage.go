package projections

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/columns"
)

// BillingItem is a row of the billing items.
type BillingItem struct {
	ID           int64
	AccountID    string
	Meter        string `db:"event_type"`   // cluster, storage or workspace
	Action       string `db:"event_action"` // the last action
	RateName     string
	ItemName     string
	Quantity     int64 // current units
	WorkspaceID  string
	SandboxID    string
	UserID       string // the user who opened it, "" for the service
	ResourceType string
	ResourceID   string
	Ranks        int64
	SizeBytes    int64
	Engine       string
	StartedAt    time.Time
	ChangedAt    time.Time  // when the cause of the last billing event happened
	EndedAt      *time.Time // nil while active
	OpenedBy     int64      // ids of billing events
	ChangedBy    int64
	ClosedBy     int64
}

// BillingEvent is a row of the billing events: the data of an event and its
// position in the log.
type BillingEvent struct {
	events.UsageRecorded
	AccountID    string
	CauseID      string
	ReceivedAt   time.Time
	Sequence     int64
	Hash         string // hex
	PreviousHash string // hex, "" for the first of the account
}

// Usage is the projection of the billing events and of the items that they
// fold into.
type Usage struct {
	items  table[BillingItem]
	events table[BillingEvent]
}

// NewUsage returns the projection.
func NewUsage() *Usage {
	return &Usage{
		table[BillingItem]{
			name: "billing_items", file: "billing_usage.sql", columns: billingItemColumns,
			keyOf: usageKey(func(u events.UsageRecorded) int64 { return u.BillingItemID }),
			first: func(f *events.Fact) bool {
				u, ok := f.Data.(events.UsageRecorded)
				return ok && u.Action == commands.UsageStart
			},
			fold: foldBillingItem,
		},
		table[BillingEvent]{
			name: "billing_events", file: "billing_usage.sql", columns: billingEventColumns,
			keyOf: usageKey(func(u events.UsageRecorded) int64 { return u.BillingEventID }),
			first: func(*events.Fact) bool { return true }, appends: true,
			fold: foldBillingEvent,
		},
	}
}

func usageKey(id func(events.UsageRecorded) int64) func(*events.Fact) string {
	return func(f *events.Fact) string {
		if u, ok := f.Data.(events.UsageRecorded); ok {
			return strconv.FormatInt(id(u), 10)
		}
		return ""
	}
}

var billingItemColumns = columns.Of[BillingItem]()

func foldBillingItem(i *BillingItem, f *events.Fact) {
	u, ok := f.Data.(events.UsageRecorded)
	if !ok {
		return
	}
	if u.Action == commands.UsageStart {
		*i = BillingItem{
			Meter: u.Meter, RateName: u.RateName, ItemName: u.ItemName,
			WorkspaceID: u.WorkspaceID, SandboxID: u.SandboxID, UserID: u.UserID,
			ResourceType: u.ResourceType, ResourceID: u.ResourceID, Ranks: u.Ranks, Engine: u.Engine,
			StartedAt: u.OccurredAt, OpenedBy: u.BillingEventID,
		}
	}
	i.ID, i.AccountID = u.BillingItemID, f.Stream
	i.Action, i.Quantity, i.ChangedAt, i.ChangedBy = u.Action, u.CurrentCount, u.OccurredAt, u.BillingEventID
	if u.SizeBytes > 0 {
		i.SizeBytes = u.SizeBytes
	}
	if u.Action == commands.UsageStop {
		ended := u.OccurredAt
		i.EndedAt, i.ClosedBy = &ended, u.BillingEventID
	}
}

var billingEventColumns = columns.Of[BillingEvent](
	"BillingEventID", "id", "BillingItemID", "item_id", "Meter", "event_type", "Action", "event_action",
)

func foldBillingEvent(e *BillingEvent, f *events.Fact) {
	if u, ok := f.Data.(events.UsageRecorded); ok {
		*e = BillingEvent{
			UsageRecorded: u, AccountID: f.Stream, CauseID: f.CauseID, ReceivedAt: f.RecordedAt,
			Sequence: f.Sequence, Hash: f.Hash.String(), PreviousHash: f.PreviousHash.String(),
		}
	}
}

// Schema implements Projection.
func (p *Usage) Schema() string { return schema("billing_usage.sql") }

// Load implements Projection.
func (p *Usage) Load(reads *pgx.Batch, facts []events.Fact) {
	p.items.Load(reads, facts)
	p.events.Load(reads, facts)
}

// Apply implements Projection.
func (p *Usage) Apply(writes *columns.Writes, facts []events.Fact) error {
	stored := map[string]int64{}
	p.items.apply(writes, facts, func(before, after *BillingItem) {
		change := storedBytes(after) - storedBytes(before)
		// An account that ever had a storage item has a row, even if the item ended
		// in the batch in which it began.
		if change != 0 || before == nil && after.Meter == events.MeterStorage {
			stored[after.AccountID] += change
		}
	})
	var changes []*accountStorage
	for _, account := range slices.Sorted(maps.Keys(stored)) {
		changes = append(changes, &accountStorage{account, stored[account]})
	}
	accountStorageColumns.Insert(writes, "account_storage AS t", changes,
		"ON CONFLICT (account_id) DO UPDATE SET bytes = t.bytes + excluded.bytes")
	return p.events.Apply(writes, facts)
}

// accountStorage is the number of bytes that a batch adds to an account.
type accountStorage struct {
	AccountID string
	Bytes     int64
}

var accountStorageColumns = columns.Of[accountStorage]()

// storedBytes returns the bytes that an item adds to its account, 0 for nil.
func storedBytes(i *BillingItem) int64 {
	if i == nil || i.Meter != events.MeterStorage || i.EndedAt != nil {
		return 0
	}
	return i.SizeBytes
}

// Cached implements projector.Cache.
func (p *Usage) Cached() (rows, bytes int) {
	items, itemBytes := p.items.Cached()
	appended, appendedBytes := p.events.Cached()
	return items + appended, itemBytes + appendedBytes
}

// Forget implements Projection.
func (p *Usage) Forget() {
	p.items.Forget()
	p.events.Forget()
}
