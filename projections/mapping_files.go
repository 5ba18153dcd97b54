package projections

import (
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// MappingFile is a row of the mapping files.
type MappingFile struct {
	ID                string
	AccountID         string
	WorkspaceID       string
	Name              string
	Description       string
	Hash              string // crc64nvme: and base64url
	ContentHash       string // sha256: and hex
	SizeBytes         int64
	RankCount         int64
	ScaleUpGroupCount int64
	ObjectKey         string
	Deleted           bool
	CreatedAt         time.Time
}

// MappingFiles is the projection of the mapping files.
type MappingFiles struct{ rows table[MappingFile] }

// NewMappingFiles returns the projection.
func NewMappingFiles() *MappingFiles {
	return &MappingFiles{table[MappingFile]{
		name: "mapping_files", keys: 1, columns: mappingFileColumns,
		keyOf: streamOf(events.MappingFilePrefix), first: begins, born: true,
		key:  func(m *MappingFile) string { return m.ID },
		fold: foldMappingFile,
	}}
}

var mappingFileColumns = []column[MappingFile]{
	{"id", "text", func(m *MappingFile) any { return &m.ID }},
	{"account_id", "text", func(m *MappingFile) any { return &m.AccountID }},
	{"workspace_id", "text", func(m *MappingFile) any { return &m.WorkspaceID }},
	{"name", "text", func(m *MappingFile) any { return &m.Name }},
	{"description", "text", func(m *MappingFile) any { return &m.Description }},
	{"hash", "text", func(m *MappingFile) any { return &m.Hash }},
	{"content_hash", "text", func(m *MappingFile) any { return &m.ContentHash }},
	{"size_bytes", "bigint", func(m *MappingFile) any { return &m.SizeBytes }},
	{"rank_count", "bigint", func(m *MappingFile) any { return &m.RankCount }},
	{"scale_up_group_count", "bigint", func(m *MappingFile) any { return &m.ScaleUpGroupCount }},
	{"object_key", "text", func(m *MappingFile) any { return &m.ObjectKey }},
	{"deleted", "boolean", func(m *MappingFile) any { return &m.Deleted }},
	{"created_at", "timestamptz", func(m *MappingFile) any { return &m.CreatedAt }},
}

func foldMappingFile(m *MappingFile, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.MappingFileCreated:
		*m = MappingFile{
			ID: f.Stream, AccountID: d.AccountID, WorkspaceID: d.WorkspaceID, Name: d.Name, Description: d.Description,
			Hash: d.Hash, ContentHash: d.ContentHash, SizeBytes: d.SizeBytes, RankCount: d.RankCount,
			ScaleUpGroupCount: d.ScaleUpGroupCount, ObjectKey: d.ObjectKey, CreatedAt: f.Time,
		}
	case events.MappingFileDeleted:
		m.Deleted = true
	}
}

// Schema implements Projection.
func (p *MappingFiles) Schema() string { return schema("mapping_files.sql") }

// Load implements Projection.
func (p *MappingFiles) Load(reads *pgx.Batch, facts []events.Fact) { p.rows.load(reads, facts) }

// Apply implements Projection.
func (p *MappingFiles) Apply(writes *pgx.Batch, facts []events.Fact) error {
	return p.rows.apply(writes, facts, nil)
}

// Forget implements Projection.
func (p *MappingFiles) Forget() { p.rows.forget() }
