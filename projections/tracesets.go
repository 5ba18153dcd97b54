package projections

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/columns"
)

// Traceset is a row of the tracesets.
type Traceset struct {
	ID          string
	AccountID   string
	WorkspaceID string
	Partition   string `db:"partition_key"` // partition key of its stream
	Name        string
	Description string
	Format      string
	Files       string // JSON array of events.TracesetFile
	LibraryHash string
	LibraryID   string
	TotalSize   int64 // bytes
	TTLDays     int64
	RankCount   int64
	Status      string // commands.TracesetReady, …; Deleted for a deleted one
	Scope       string // workspace, tenant or public
	Tags        string // JSON array
	Workload    string // JSON, "" for none
	Layout      string // cas or prefix
	Ranges      string // JSON array of events.RankRange
	FileCount   int64  // with layout prefix: the files in the folder
	Summary     string // JSON, "" for none
	Warnings    string // JSON array
	Failure     string // why the metadata could not be extracted
	CreatedAt   time.Time
	ModifiedAt  time.Time
	ExpiresAt   *time.Time // nil if it never expires
}

// FileList returns the files as they were uploaded.
func (t *Traceset) FileList() ([]events.TracesetFile, error) {
	return fileList[events.TracesetFile]("traceset", t.ID, t.Files)
}

func fileList[F any](what, id, text string) (files []F, err error) {
	if err := json.Unmarshal([]byte(text), &files); err != nil {
		return nil, fmt.Errorf("read the files of %s %s: %w", what, id, err)
	}
	return files, nil
}

// Tracesets is the projection of the tracesets.
type Tracesets struct{ table[Traceset] }

// NewTracesets returns the projection.
func NewTracesets() *Tracesets {
	return &Tracesets{table[Traceset]{
		name: "tracesets", file: "tracesets.sql", columns: tracesetColumns,
		keyOf: streamOf(events.TracesetPrefix), first: begins, insertsNew: true,
		fold: foldTraceset,
	}}
}

var tracesetColumns = columns.Of[Traceset]()

func foldTraceset(t *Traceset, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.TracesetCreated:
		*t = Traceset{
			ID: f.Stream, AccountID: d.AccountID, WorkspaceID: d.WorkspaceID, Partition: f.PartitionKey, Name: d.Name,
			Description: d.Description, Format: d.Format, Files: textOf(d.Files),
			LibraryHash: d.LibraryHash, LibraryID: events.DerivedID(events.LibraryPrefix, d.LibraryHash),
			TotalSize: d.TotalSize, TTLDays: d.TTLDays,
			RankCount: d.RankCount, Status: d.Status, Scope: cmp.Or(d.Scope, commands.ScopeWorkspace),
			Tags: textOf(d.Tags), Workload: d.Workload, Layout: events.LayoutFiles, Ranges: "[]", Warnings: "[]", CreatedAt: f.Time,
		}
		if t.Scope == commands.ScopeWorkspace {
			expiry := f.Time.AddDate(0, 0, int(d.TTLDays))
			t.ExpiresAt = &expiry
		}
	case events.TracesetMetadataExtracted:
		t.Status, t.Format, t.RankCount, t.Ranges = commands.TracesetReady, d.Format, d.RankCount, textOf(d.Ranges)
		t.Layout, t.FileCount, t.Summary, t.Warnings = cmp.Or(d.Layout, events.LayoutFiles), d.FileCount, d.Summary, textOf(d.Warnings)
	case events.TracesetMetadataFailed:
		t.Status, t.Failure = commands.TracesetMetadataFailed, d.Reason
	case events.TracesetPromoted:
		t.Scope, t.ExpiresAt = d.To, nil
		t.Description, t.Workload = cmp.Or(d.Description, t.Description), cmp.Or(d.Workload, t.Workload)
		if d.Tags != nil {
			t.Tags = textOf(d.Tags)
		}
	case events.TracesetUsed:
		t.ExpiresAt = &d.ExpiresAt
	case events.TracesetDeleted:
		t.Status = Deleted
	}
	t.ModifiedAt = f.Time
}

// textOf encodes a list as a JSON array, nil as an empty one.
func textOf[T any](list []T) string {
	if list == nil {
		return "[]"
	}
	text, _ := json.Marshal(list) //nolint:errchkjson // strings and numbers always encode
	return string(text)
}
