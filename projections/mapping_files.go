package projections

import (
	"time"

	"netsim/events"
	"netsim/infra/columns"
)

// MappingFile is a row of the mapping files.
type MappingFile struct {
	ID                string
	AccountID         string
	WorkspaceID       string
	Name              string
	Description       string
	Hash              string // "crc64nvme:" and base64url
	ContentHash       string // "sha256:" and hex
	SizeBytes         int64
	RankCount         int64
	ScaleUpGroupCount int64
	ObjectKey         string
	Deleted           bool
	CreatedAt         time.Time
}

// MappingFiles is the projection of the mapping files.
type MappingFiles struct{ table[MappingFile] }

// NewMappingFiles returns the projection.
func NewMappingFiles() *MappingFiles {
	return &MappingFiles{table[MappingFile]{
		name: "mapping_files", file: "mapping_files.sql", columns: mappingFileColumns,
		keyOf: streamOf(events.MappingFilePrefix), first: begins, insertsNew: true,
		fold: foldMappingFile,
	}}
}

var mappingFileColumns = columns.Of[MappingFile]()

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
