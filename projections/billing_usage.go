package projections

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
	"netsim/events"
)

// BillingItem is a row of the billing items.
type BillingItem struct {
	ID           int64
	AccountID    string
	Meter        string // cluster, storage or workspace
	Action       string // the last one
	RateName     string
	ItemName     string
	Quantity     int64 // units now
	WorkspaceID  string
	SandboxID    string
	UserID       string // who opened it, "" for the service
	ResourceType string
	ResourceID   string
	Ranks        int64
	SizeBytes    int64
	Engine       string
	StartedAt    time.Time
	ChangedAt    time.Time  // when the cause of the last event happened
	EndedAt      *time.Time // nil while active
	OpenedBy     int64      // billing events
	ChangedBy    int64
	ClosedBy     int64
}

// BillingEvent is a row of the billing events: what the log says, and where.
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
			name: "billing_items", keys: 1, columns: billingItemColumns,
			keyOf: usageKey(func(u events.UsageRecorded) int64 { return u.BillingItemID }),
			first: func(f *events.Fact) bool {
				u, ok := f.Data.(events.UsageRecorded)
				return ok && u.Action == commands.UsageStart
			},
			key:  func(i *BillingItem) string { return strconv.FormatInt(i.ID, 10) },
			fold: foldBillingItem,
		},
		table[BillingEvent]{
			name: "billing_events", keys: 1, columns: billingEventColumns,
			keyOf: usageKey(func(u events.UsageRecorded) int64 { return u.BillingEventID }),
			first: func(*events.Fact) bool { return true },
			key:   func(e *BillingEvent) string { return strconv.FormatInt(e.BillingEventID, 10) },
			fold:  foldBillingEvent,
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

var billingItemColumns = []column[BillingItem]{
	{"id", "bigint", func(i *BillingItem) any { return &i.ID }},
	{"account_id", "text", func(i *BillingItem) any { return &i.AccountID }},
	{"event_type", "text", func(i *BillingItem) any { return &i.Meter }},
	{"event_action", "text", func(i *BillingItem) any { return &i.Action }},
	{"rate_name", "text", func(i *BillingItem) any { return &i.RateName }},
	{"item_name", "text", func(i *BillingItem) any { return &i.ItemName }},
	{"quantity", "bigint", func(i *BillingItem) any { return &i.Quantity }},
	{"workspace_id", "text", func(i *BillingItem) any { return &i.WorkspaceID }},
	{"sandbox_id", "text", func(i *BillingItem) any { return &i.SandboxID }},
	{"user_id", "text", func(i *BillingItem) any { return &i.UserID }},
	{"resource_type", "text", func(i *BillingItem) any { return &i.ResourceType }},
	{"resource_id", "text", func(i *BillingItem) any { return &i.ResourceID }},
	{"ranks", "bigint", func(i *BillingItem) any { return &i.Ranks }},
	{"size_bytes", "bigint", func(i *BillingItem) any { return &i.SizeBytes }},
	{"engine", "text", func(i *BillingItem) any { return &i.Engine }},
	{"started_at", "timestamptz", func(i *BillingItem) any { return &i.StartedAt }},
	{"changed_at", "timestamptz", func(i *BillingItem) any { return &i.ChangedAt }},
	{"ended_at", "timestamptz", func(i *BillingItem) any { return &i.EndedAt }},
	{"opened_by", "bigint", func(i *BillingItem) any { return &i.OpenedBy }},
	{"changed_by", "bigint", func(i *BillingItem) any { return &i.ChangedBy }},
	{"closed_by", "bigint", func(i *BillingItem) any { return &i.ClosedBy }},
}

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
		i.EndedAt, i.ClosedBy = &u.OccurredAt, u.BillingEventID
	}
}

var billingEventColumns = []column[BillingEvent]{
	{"id", "bigint", func(e *BillingEvent) any { return &e.BillingEventID }},
	{"item_id", "bigint", func(e *BillingEvent) any { return &e.BillingItemID }},
	{"account_id", "text", func(e *BillingEvent) any { return &e.AccountID }},
	{"event_type", "text", func(e *BillingEvent) any { return &e.Meter }},
	{"event_action", "text", func(e *BillingEvent) any { return &e.Action }},
	{"rate_name", "text", func(e *BillingEvent) any { return &e.RateName }},
	{"item_name", "text", func(e *BillingEvent) any { return &e.ItemName }},
	{"previous_count", "bigint", func(e *BillingEvent) any { return &e.PreviousCount }},
	{"current_count", "bigint", func(e *BillingEvent) any { return &e.CurrentCount }},
	{"billable_count", "bigint", func(e *BillingEvent) any { return &e.BillableCount }},
	{"workspace_id", "text", func(e *BillingEvent) any { return &e.WorkspaceID }},
	{"sandbox_id", "text", func(e *BillingEvent) any { return &e.SandboxID }},
	{"user_id", "text", func(e *BillingEvent) any { return &e.UserID }},
	{"resource_type", "text", func(e *BillingEvent) any { return &e.ResourceType }},
	{"resource_id", "text", func(e *BillingEvent) any { return &e.ResourceID }},
	{"cause_type", "text", func(e *BillingEvent) any { return &e.CauseType }},
	{"cause_id", "text", func(e *BillingEvent) any { return &e.CauseID }},
	{"ranks", "bigint", func(e *BillingEvent) any { return &e.Ranks }},
	{"size_bytes", "bigint", func(e *BillingEvent) any { return &e.SizeBytes }},
	{"engine", "text", func(e *BillingEvent) any { return &e.Engine }},
	{"occurred_at", "timestamptz", func(e *BillingEvent) any { return &e.OccurredAt }},
	{"received_at", "timestamptz", func(e *BillingEvent) any { return &e.ReceivedAt }},
	{"sequence", "bigint", func(e *BillingEvent) any { return &e.Sequence }},
	{"hash", "text", func(e *BillingEvent) any { return &e.Hash }},
	{"previous_hash", "text", func(e *BillingEvent) any { return &e.PreviousHash }},
}

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
	p.items.load(reads, facts)
	p.events.load(reads, facts)
}

// Apply implements Projection.
func (p *Usage) Apply(writes *pgx.Batch, facts []events.Fact) error {
	stored := map[string]int64{}
	if err := p.items.apply(writes, facts, func(before, after *BillingItem) {
		if change := storedBytes(after) - storedBytes(before); change != 0 {
			stored[after.AccountID] += change
		}
	}); err != nil {
		return err
	}
	if accounts := slices.Sorted(maps.Keys(stored)); len(accounts) > 0 {
		writes.Queue(`
			INSERT INTO account_storage AS t (account_id, bytes) SELECT * FROM unnest($1::text[], $2::bigint[])
			ON CONFLICT (account_id) DO UPDATE SET bytes = t.bytes + excluded.bytes`,
			accounts, each(accounts, func(a string) int64 { return stored[a] }))
	}
	return p.events.apply(writes, facts, nil)
}

// storedBytes is what an item, which may be nil, adds to the bytes of its
// account.
func storedBytes(i *BillingItem) int64 {
	if i == nil || i.Meter != meterStorage || i.EndedAt != nil {
		return 0
	}
	return i.SizeBytes
}

const meterStorage = "storage"

// Forget implements Projection.
func (p *Usage) Forget() {
	p.items.forget()
	p.events.forget()
}
