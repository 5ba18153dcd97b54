package projections

import (
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/columns"
)

// Upload is a row of the uploads.
type Upload struct {
	ID          string
	AccountID   string
	WorkspaceID string
	Kind        string // events.UploadTraceset or UploadMappingFile
	ResultID    string // the traceset or mapping file that the upload makes
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

// FileList returns the files that the client announced.
func (u *Upload) FileList() ([]events.UploadFile, error) {
	return fileList[events.UploadFile]("upload", u.ID, u.Files)
}

// Uploads is the projection of the upload sessions.
type Uploads struct{ table[Upload] }

// NewUploads returns the projection.
func NewUploads() *Uploads {
	return &Uploads{table[Upload]{
		name: "uploads", file: "uploads.sql", columns: uploadColumns,
		keyOf: streamOf(events.UploadPrefix), first: begins, insertsNew: true,
		fold: foldUpload,
	}}
}

var uploadColumns = columns.Of[Upload]()

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
