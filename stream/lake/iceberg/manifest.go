package iceberg

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// File is a Parquet file of a table.
type File struct {
	Path  string
	Rows  int64
	Bytes int64
	// By the id of a column. A bound is the single-value serialization of its type; a
	// column without bounds is left out.
	Values, Nulls map[int32]int64
	Least, Most   map[int32][]byte
}

// Manifest is a stored manifest, as a list of manifests names it.
type Manifest struct {
	Path     string
	Bytes    int64
	Snapshot int64 // that added its files
	Files    int64
	Rows     int64
}

// The types of fields in the Avro schemas that follow; f is a field with its id.
func f(id int, name, avro string) string {
	return fmt.Sprintf(`{"name":%q,"field-id":%d,"type":%s}`, name, id, avro)
}

// nullable is a field that may be null.
func nullable(id int, name, avro string) string {
	return fmt.Sprintf(`{"name":%q,"field-id":%d,"type":["null",%s],"default":null}`, name, id, avro)
}

// mapped is a field with a map from columns.
func mapped(id int, name string, key, value int, avro string) string {
	return nullable(id, name, fmt.Sprintf(`{"type":"array","logicalType":"map","items":%s}`,
		structure(fmt.Sprintf("k%d_v%d", key, value), f(key, "key", `"int"`), f(value, "value", avro))))
}

func structure(name string, fields ...string) string {
	return fmt.Sprintf(`{"type":"record","name":%q,"fields":[%s]}`, name, strings.Join(fields, ","))
}

// entrySchema is the Avro schema of a manifest's entries.
func entrySchema() string {
	return structure("manifest_entry",
		f(0, "status", `"int"`), nullable(1, "snapshot_id", `"long"`),
		nullable(3, "sequence_number", `"long"`), nullable(4, "file_sequence_number", `"long"`),
		f(2, "data_file", structure("r2",
			f(134, "content", `"int"`), f(100, "file_path", `"string"`), f(101, "file_format", `"string"`), f(102, "partition", structure("r102")),
			f(103, "record_count", `"long"`), f(104, "file_size_in_bytes", `"long"`),
			mapped(109, "value_counts", 119, 120, `"long"`), mapped(110, "null_value_counts", 121, 122, `"long"`),
			mapped(125, "lower_bounds", 126, 127, `"bytes"`), mapped(128, "upper_bounds", 129, 130, `"bytes"`))))
}

// listSchema is the Avro schema of a list of manifests.
func listSchema() string {
	summary := structure("r508", f(509, "contains_null", `"boolean"`), nullable(518, "contains_nan", `"boolean"`),
		nullable(510, "lower_bound", `"bytes"`), nullable(511, "upper_bound", `"bytes"`))
	return structure("manifest_file",
		f(500, "manifest_path", `"string"`), f(501, "manifest_length", `"long"`), f(502, "partition_spec_id", `"int"`), f(517, "content", `"int"`),
		f(515, "sequence_number", `"long"`), f(516, "min_sequence_number", `"long"`), f(503, "added_snapshot_id", `"long"`),
		f(504, "added_files_count", `"int"`), f(505, "existing_files_count", `"int"`), f(506, "deleted_files_count", `"int"`),
		f(512, "added_rows_count", `"long"`), f(513, "existing_rows_count", `"long"`), f(514, "deleted_rows_count", `"long"`),
		nullable(507, "partitions", `{"type":"array","element-id":508,"items":`+summary+`}`))
}

// WriteManifest returns a manifest of files that a snapshot adds.
func WriteManifest(schema Schema, snapshot int64, files []File) ([]byte, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var records []record
	for i := range files {
		file := &files[i]
		var r record
		r.long(1) // added
		r.branch(1)
		r.long(snapshot)
		r.branch(0) // the sequence number is that of the manifest
		r.branch(0)
		r.long(0) // data
		r.text(file.Path)
		r.text("PARQUET")
		r.long(file.Rows)
		r.long(file.Bytes)
		counts(&r, file.Values)
		counts(&r, file.Nulls)
		bounds(&r, file.Least)
		bounds(&r, file.Most)
		records = append(records, r)
	}
	return container(entrySchema(), map[string]string{
		"schema": string(text), "schema-id": "0", "partition-spec": "[]", "partition-spec-id": "0", "format-version": "2", "content": "data",
	}, records)
}

func counts(r *record, of map[int32]int64) {
	r.branch(1)
	each(r, of, func(n int64) { r.long(n) })
}

func bounds(r *record, of map[int32][]byte) {
	r.branch(1)
	each(r, of, func(b []byte) { r.bytes(b) })
}

// each writes the entries of a map.
func each[V any](r *record, of map[int32]V, value func(V)) {
	if len(of) > 0 {
		r.items(len(of))
	}
	for _, column := range slices.Sorted(maps.Keys(of)) {
		r.long(int64(column))
		value(of[column])
	}
	r.endItems()
}

// WriteList returns the list of the manifests of a snapshot.
func WriteList(snapshot int64, manifests []Manifest) ([]byte, error) {
	var records []record
	for _, m := range manifests {
		var r record
		r.text(m.Path)
		r.long(m.Bytes)
		r.long(0) // the partition spec
		r.long(0) // data
		r.long(m.Snapshot)
		r.long(m.Snapshot)
		r.long(m.Snapshot)
		r.long(m.Files)
		r.long(0)
		r.long(0)
		r.long(m.Rows)
		r.long(0)
		r.long(0)
		r.branch(1) // the summaries of no partition fields
		r.endItems()
		records = append(records, r)
	}
	return container(listSchema(), map[string]string{
		"snapshot-id": fmt.Sprint(snapshot), "sequence-number": fmt.Sprint(snapshot), "format-version": "2",
	}, records)
}
