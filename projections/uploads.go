package projections

import (
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
	"netsim/events"
)

// Upload is a row of the uploads.
type Upload struct {
	ID          string
	AccountID   string
	WorkspaceID string
	Kind        string // events.UploadTraceset or UploadMappingFile
	ResultID    string // what it became, or is to become
	Name        string
	Description string
	Tags        string // JSON array
	TTLDays     int64
	Workload    string // JSON, "" for none
	Files       string // JSON array of events.UploadFile
	Status      string // commands.UploadOpen, UploadCompleted or UploadAborted
	Reason      string // of an abort
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// FileList are the files that are to be uploaded.
func (u *Upload) FileList() ([]events.UploadFile, error) {
	return fileList[events.UploadFile]("upload", u.ID, u.Files)
}

// Uploads is the projection of the upload sessions.
type Uploads struct{ rows table[Upload] }

// NewUploads returns the projection.
func NewUploads() *Uploads {
	return &Uploads{table[Upload]{
		name: "uploads", keys: 1, columns: uploadColumns,
		keyOf: streamOf(events.UploadPrefix), first: begins, born: true,
		key:  func(u *Upload) string { return u.ID },
		fold: foldUpload,
	}}
}

var uploadColumns = []column[Upload]{
	{"id", "text", func(u *Upload) any { return &u.ID }},
	{"account_id", "text", func(u *Upload) any { return &u.AccountID }},
	{"workspace_id", "text", func(u *Upload) any { return &u.WorkspaceID }},
	{"kind", "text", func(u *Upload) any { return &u.Kind }},
	{"result_id", "text", func(u *Upload) any { return &u.ResultID }},
	{"name", "text", func(u *Upload) any { return &u.Name }},
	{"description", "text", func(u *Upload) any { return &u.Description }},
	{"tags", "text", func(u *Upload) any { return &u.Tags }},
	{"ttl_days", "bigint", func(u *Upload) any { return &u.TTLDays }},
	{"workload", "text", func(u *Upload) any { return &u.Workload }},
	{"files", "text", func(u *Upload) any { return &u.Files }},
	{"status", "text", func(u *Upload) any { return &u.Status }},
	{"reason", "text", func(u *Upload) any { return &u.Reason }},
	{"created_at", "timestamptz", func(u *Upload) any { return &u.CreatedAt }},
	{"expires_at", "timestamptz", func(u *Upload) any { return &u.ExpiresAt }},
}

func foldUpload(u *Upload, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.UploadOpened:
		*u = Upload{
			ID: f.Stream, AccountID: d.AccountID, WorkspaceID: d.WorkspaceID, Kind: d.Kind, ResultID: d.ResultID,
			Name: d.Name, Description: d.Description, Tags: textOf(d.Tags), TTLDays: d.TTLDays, Workload: d.Workload,
			Files: textOf(d.Files), Status: commands.UploadOpen, CreatedAt: f.Time, ExpiresAt: d.ExpiresAt,
		}
	case events.UploadCompleted:
		u.Status, u.ResultID = commands.UploadCompleted, d.ResultID
	case events.UploadAborted:
		u.Status, u.Reason = commands.UploadAborted, d.Reason
	}
}

// Schema implements Projection.
func (p *Uploads) Schema() string { return schema("uploads.sql") }

// Load implements Projection.
func (p *Uploads) Load(reads *pgx.Batch, facts []events.Fact) { p.rows.load(reads, facts) }

// Apply implements Projection.
func (p *Uploads) Apply(writes *pgx.Batch, facts []events.Fact) error {
	return p.rows.apply(writes, facts, nil)
}

// Forget implements Projection.
func (p *Uploads) Forget() { p.rows.forget() }
