package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"netsim/events"
	"netsim/fault"
	"netsim/stream/tables"
)

// ManifestName is the name of the manifest beside the files.
const ManifestName = "manifest.json"

const manifestVersion = 1

// Manifest describes an export. Nothing in it depends on when or how often the export was
// interrupted.
type Manifest struct {
	Version int `json:"version"` // of the manifest's form: 1
	Request
	Complete   bool        `json:"complete"`
	Cluster    string      `json:"cluster"` // id of the Kafka cluster
	Partitions []Partition `json:"partitions"`
	Tables     []Schema    `json:"tables,omitempty"` // not for NDJSON
	Files      []File      `json:"files"`            // by name
}

// Partition is the range of a partition that the export covers.
type Partition struct {
	Family    events.Family `json:"family"`
	Topic     string        `json:"topic"`
	TopicID   string        `json:"topicId"`
	Partition int32         `json:"partition"`
	From      int64         `json:"from"`
	To        int64         `json:"to"`               // exclusive
	Next      int64         `json:"next"`             // the files have everything before
	Anchor    string        `json:"anchor,omitempty"` // of the last fact before next: in which log (events.Anchor)
}

// File is a finished file.
type File struct {
	Name        string `json:"name"`
	Table       string `json:"table"`
	Partition   int32  `json:"partition"`
	From        int64  `json:"from"` // the offsets that it covers
	To          int64  `json:"to"`   // exclusive
	FirstOffset int64  `json:"firstOffset"`
	LastOffset  int64  `json:"lastOffset"`
	Rows        int64  `json:"rows"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"`            // hex
	Columns     int    `json:"columns,omitempty"` // it has the first ones of its table
}

// Schema lists the columns of a table.
type Schema struct {
	Table   string   `json:"table"`
	Columns []Column `json:"columns"`
}

// Column is a column of a table.
type Column struct {
	ID       int32       `json:"id"` // the field id in Parquet
	Name     string      `json:"name"`
	Type     tables.Type `json:"type"`
	Nullable bool        `json:"nullable"`
}

// newManifest begins an export of a log.
func newManifest(r Request, log Log) *Manifest {
	m := &Manifest{Version: manifestVersion, Request: r, Cluster: log.Cluster, Partitions: []Partition{}, Files: []File{}}
	for _, topic := range log.Topics {
		for n, end := range topic.Ends {
			if r.Filters.covers(topic.Family, int32(n), int32(len(topic.Ends))) {
				m.Partitions = append(m.Partitions, Partition{Family: topic.Family, Topic: topic.Name, TopicID: topic.ID, Partition: int32(n), To: end})
			}
		}
	}
	m.describe()
	return m
}

// describe lists the columns of the tables, of which a later release can have more.
func (m *Manifest) describe() {
	m.Tables = nil
	if m.Format == NDJSON {
		return
	}
	for _, t := range tables.All() {
		if !slices.ContainsFunc(m.Partitions, func(p Partition) bool { return p.Family == t.Family }) {
			continue
		}
		s := Schema{Table: t.Name}
		for _, c := range t.Columns {
			s.Columns = append(s.Columns, Column{c.ID, c.Name, c.Type, c.Nullable})
		}
		m.Tables = append(m.Tables, s)
	}
}

// parseManifest reads a manifest.
func parseManifest(text []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("read %s: %w", ManifestName, err)
	}
	if m.Version != manifestVersion {
		return nil, fault.New(fault.Conflict, "%s has version %d; this release reads version %d", ManifestName, m.Version, manifestVersion)
	}
	return &m, nil
}

func (m *Manifest) encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// resumable returns an error unless the manifest is one of the request and the log.
func (m *Manifest) resumable(r Request, log Log) error {
	differs := func(what string, have, want any) error {
		return fault.New(fault.Conflict, "the export was begun with %s %v, not %v: use the same options to go on, or another target", what, have, want)
	}
	switch {
	case m.Format != r.Format:
		return differs("format", m.Format, r.Format)
	case m.FileBytes != r.FileBytes:
		return differs("file size", m.FileBytes, r.FileBytes)
	case !reflect.DeepEqual(normal(m.Filters), normal(r.Filters)):
		have, _ := json.Marshal(m.Filters)
		want, _ := json.Marshal(r.Filters)
		return differs("the filters", string(have), string(want))
	case m.Cluster != log.Cluster:
		return differs("the Kafka cluster", m.Cluster, log.Cluster)
	}
	for _, p := range m.Partitions {
		topic := log.topic(p.Family)
		switch {
		case topic == nil || int(p.Partition) >= len(topic.Ends):
			return fault.New(fault.Conflict, "the log has no partition %d of %s any more", p.Partition, p.Topic)
		case topic.ID != p.TopicID:
			return differs("the topic id of "+p.Topic, p.TopicID, topic.ID)
		case topic.Ends[p.Partition] < p.To:
			return fault.New(fault.Conflict, "the log has lost records: %s/%d ends at %d, the export at %d", p.Topic, p.Partition, topic.Ends[p.Partition], p.To)
		}
	}
	return nil
}

// normal returns the filters as JSON gives them back, to compare them.
func normal(f Filters) Filters {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // times and strings
	}
	var out Filters
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

// add lists a finished file.
func (m *Manifest) add(f File) {
	at, _ := slices.BinarySearchFunc(m.Files, f.Name, func(have File, name string) int { return cmp.Compare(have.Name, name) })
	m.Files = slices.Insert(m.Files, at, f)
}

// Rows returns the number of facts in the files.
func (m *Manifest) Rows() (n int64) {
	for _, f := range m.Files {
		n += f.Rows
	}
	return n
}

// lists reports whether a file is listed.
func (m *Manifest) lists(name string) bool {
	return slices.ContainsFunc(m.Files, func(f File) bool { return f.Name == name })
}
