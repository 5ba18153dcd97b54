package projections

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// Traceset is a row of the tracesets.
type Traceset struct {
	ID          string
	AccountID   string
	WorkspaceID string
	Name        string
	Description string
	Format      string
	Files       string // JSON array of events.TracesetFile
	LibraryHash string
	TotalSize   int64 // bytes
	TTLDays     int64
	RankCount   int64
	Status      string // Deleted when it is gone
	CreatedAt   time.Time
}

// Tracesets is the projection of the tracesets.
type Tracesets struct{ rows table[Traceset] }

// NewTracesets returns the projection.
func NewTracesets() *Tracesets {
	return &Tracesets{table[Traceset]{
		name: "tracesets", keys: 1, columns: tracesetColumns,
		keyOf: streamOf(events.TracesetPrefix), first: begins, born: true,
		key:  func(t *Traceset) string { return t.ID },
		fold: foldTraceset,
	}}
}

var tracesetColumns = []column[Traceset]{
	{"id", "text", func(t *Traceset) any { return &t.ID }},
	{"account_id", "text", func(t *Traceset) any { return &t.AccountID }},
	{"workspace_id", "text", func(t *Traceset) any { return &t.WorkspaceID }},
	{"name", "text", func(t *Traceset) any { return &t.Name }},
	{"description", "text", func(t *Traceset) any { return &t.Description }},
	{"format", "text", func(t *Traceset) any { return &t.Format }},
	{"files", "text", func(t *Traceset) any { return &t.Files }},
	{"library_hash", "text", func(t *Traceset) any { return &t.LibraryHash }},
	{"total_size", "bigint", func(t *Traceset) any { return &t.TotalSize }},
	{"ttl_days", "bigint", func(t *Traceset) any { return &t.TTLDays }},
	{"rank_count", "bigint", func(t *Traceset) any { return &t.RankCount }},
	{"status", "text", func(t *Traceset) any { return &t.Status }},
	{"created_at", "timestamptz", func(t *Traceset) any { return &t.CreatedAt }},
}

func foldTraceset(t *Traceset, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.TracesetCreated:
		files, _ := json.Marshal(d.Files) //nolint:errchkjson // strings and numbers always encode
		*t = Traceset{
			ID: f.Stream, AccountID: d.AccountID, WorkspaceID: d.WorkspaceID, Name: d.Name,
			Description: d.Description, Format: d.Format, Files: string(files),
			LibraryHash: d.LibraryHash, TotalSize: d.TotalSize, TTLDays: d.TTLDays,
			RankCount: d.RankCount, Status: d.Status, CreatedAt: f.Time,
		}
	case events.TracesetDeleted:
		t.Status = Deleted
	}
}

// Schema implements Projection.
func (p *Tracesets) Schema() string { return schema("tracesets.sql") }

// Load implements Projection.
func (p *Tracesets) Load(reads *pgx.Batch, facts []events.Fact) { p.rows.load(reads, facts) }

// Apply implements Projection.
func (p *Tracesets) Apply(writes *pgx.Batch, facts []events.Fact) error {
	return p.rows.apply(writes, facts, nil)
}

// Forget implements Projection.
func (p *Tracesets) Forget() { p.rows.forget() }
