package tables

import (
	"slices"
	"strings"
	"sync"

	"netsim/events"
	"netsim/infra/parquetfile"
)

// Type is the type of a column.
type Type string

// The types of columns.
const (
	Text      Type = "text"
	Integer   Type = "integer"   // int64
	Boolean   Type = "boolean"   //
	Timestamp Type = "timestamp" // UTC, microseconds
	Date      Type = "date"      //
	Decimal   Type = "decimal"   // decimal(38,18)
	JSON      Type = "json"      // text
)

// code is a Type that is compared quickly.
type code uint8

const (
	text code = iota
	integral
	boolean
	timestamps
	date
	decimal
	nested
)

func (t Type) code() code {
	switch t {
	case Text:
		return text
	case Integer:
		return integral
	case Boolean:
		return boolean
	case Timestamp:
		return timestamps
	case Date:
		return date
	case Decimal:
		return decimal
	case JSON:
		return nested
	}
	panic("tables: no such type: " + string(t))
}

// The size of a Decimal.
const (
	Precision = parquetfile.Precision
	Scale     = 18
)

// Column is a column of a table.
type Column struct {
	ID       int32 // within the table, from 1, for ever
	Name     string
	Type     Type
	Nullable bool
	Events   []string // the event types that have it; none for a column of the frame

	members []string // their members, by event type
}

// Table is a family's table.
type Table struct {
	Name    string
	Family  events.Family
	Columns []Column // by id; a column's index is its id less one

	members map[string]*members // by event type
}

// The columns of the frame and of the position, which every table begins with.
const (
	eventID = iota
	eventType
	stream
	sequence
	happened
	recorded
	partitionKey
	actor
	commandID
	correlationID
	causeID
	dataVersion
	hash
	sourcePartition
	sourceOffset
	data
	frameColumns // their number
)

// frame lists the columns of the frame by index.
func frame() []Column {
	columns := []Column{
		eventID:         {Name: "event_id", Type: Text},
		eventType:       {Name: "type", Type: Text},
		stream:          {Name: "stream", Type: Text},
		sequence:        {Name: "sequence", Type: Integer},
		happened:        {Name: "time", Type: Timestamp},
		recorded:        {Name: "recorded_at", Type: Timestamp},
		partitionKey:    {Name: "partition_key", Type: Text},
		actor:           {Name: "actor", Type: Text, Nullable: true},
		commandID:       {Name: "command_id", Type: Text, Nullable: true},
		correlationID:   {Name: "correlation_id", Type: Text, Nullable: true},
		causeID:         {Name: "cause_id", Type: Text, Nullable: true},
		dataVersion:     {Name: "data_version", Type: Integer},
		hash:            {Name: "event_hash", Type: Text},
		sourcePartition: {Name: "source_partition", Type: Integer},
		sourceOffset:    {Name: "source_offset", Type: Integer},
		data:            {Name: "data", Type: JSON},
	}
	for i := range columns {
		columns[i].ID = int32(i + 1)
	}
	return columns
}

var all = sync.OnceValue(func() []*Table {
	tables, missing := build(parse(sealed))
	if len(missing) > 0 {
		panic("tables: members of events without a column (go test ./stream/tables -learn appends them):\n" + strings.Join(missing, "\n"))
	}
	return tables
})

// All returns the tables, in the order of the families. Callers must not change them.
func All() []*Table { return slices.Clone(all()) }

// For returns the table of a family, nil for an unknown family.
func For(family events.Family) *Table {
	for _, t := range all() {
		if t.Family == family {
			return t
		}
	}
	return nil
}

// Index returns the index of the column with a name, -1 when there is none.
func (t *Table) Index(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// nameOf returns the name of a family's table.
func nameOf(family events.Family) string {
	if family == events.MappingFiles {
		return "mapping_files"
	}
	return string(family)
}
