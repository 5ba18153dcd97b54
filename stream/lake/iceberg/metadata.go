package iceberg

import (
	"encoding/json"
	"strconv"
	"time"
)

// Schema is the schema of a table.
type Schema struct {
	Type   string  `json:"type"` // struct
	ID     int     `json:"schema-id"`
	Fields []Field `json:"fields"`
}

// Field is a column.
type Field struct {
	ID       int32  `json:"id"`
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Type     string `json:"type"` // such as long or decimal(38,18)
	Doc      string `json:"doc,omitempty"`
}

// Table is a table with one snapshot.
type Table struct {
	ID         string // a UUID, for ever
	Location   string
	Schema     Schema
	Snapshot   int64 // also its sequence number; above zero, and above those before
	At         time.Time
	List       string // path of the list of its manifests
	Files      int64
	Rows       int64
	Bytes      int64
	Properties map[string]string
}

type (
	metadata struct {
		FormatVersion  int               `json:"format-version"`
		ID             string            `json:"table-uuid"`
		Location       string            `json:"location"`
		LastSequence   int64             `json:"last-sequence-number"`
		Updated        int64             `json:"last-updated-ms"`
		LastColumn     int32             `json:"last-column-id"`
		CurrentSchema  int               `json:"current-schema-id"`
		Schemas        []Schema          `json:"schemas"`
		DefaultSpec    int               `json:"default-spec-id"`
		Specs          []spec            `json:"partition-specs"`
		LastPartition  int               `json:"last-partition-id"`
		DefaultOrder   int               `json:"default-sort-order-id"`
		Orders         []order           `json:"sort-orders"`
		Properties     map[string]string `json:"properties"`
		Snapshot       int64             `json:"current-snapshot-id"`
		References     map[string]branch `json:"refs"`
		Snapshots      []snapshot        `json:"snapshots"`
		SnapshotLog    []logged          `json:"snapshot-log"`
		MetadataLog    []logged          `json:"metadata-log"`
		Statistics     []logged          `json:"statistics"`
		PartStatistics []logged          `json:"partition-statistics"`
	}
	spec struct {
		ID     int     `json:"spec-id"`
		Fields []Field `json:"fields"`
	}
	order struct {
		ID     int     `json:"order-id"`
		Fields []Field `json:"fields"`
	}
	branch struct {
		Snapshot int64  `json:"snapshot-id"`
		Type     string `json:"type"`
	}
	snapshot struct {
		ID       int64             `json:"snapshot-id"`
		Sequence int64             `json:"sequence-number"`
		At       int64             `json:"timestamp-ms"`
		List     string            `json:"manifest-list"`
		Summary  map[string]string `json:"summary"`
		Schema   int               `json:"schema-id"`
	}
	logged struct {
		At       int64 `json:"timestamp-ms"`
		Snapshot int64 `json:"snapshot-id"`
	}
)

// WriteMetadata returns the metadata of a table.
func WriteMetadata(t *Table) ([]byte, error) {
	at, last := t.At.UnixMilli(), int32(0)
	for _, field := range t.Schema.Fields {
		last = max(last, field.ID)
	}
	const lastPartition = 999 // of a table that never had partitions
	return json.Marshal(metadata{
		FormatVersion: 2, ID: t.ID, Location: t.Location, LastSequence: t.Snapshot, Updated: at, LastColumn: last,
		Schemas: []Schema{t.Schema}, Specs: []spec{{Fields: []Field{}}}, LastPartition: lastPartition, Orders: []order{{Fields: []Field{}}},
		Properties: t.Properties, Snapshot: t.Snapshot, References: map[string]branch{"main": {t.Snapshot, "branch"}},
		Snapshots: []snapshot{{ID: t.Snapshot, Sequence: t.Snapshot, At: at, List: t.List, Summary: map[string]string{
			"operation": "overwrite", "total-records": strconv.FormatInt(t.Rows, 10), "total-data-files": strconv.FormatInt(t.Files, 10), "total-files-size": strconv.FormatInt(t.Bytes, 10),
			"total-delete-files": "0", "total-position-deletes": "0", "total-equality-deletes": "0",
		}}},
		SnapshotLog: []logged{{at, t.Snapshot}}, MetadataLog: []logged{}, Statistics: []logged{}, PartStatistics: []logged{},
	})
}
