package focus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Version is the version of the specification.
const Version = "1.2"

// schemaCreated is when the columns last changed. A test fails if they change and
// this does not.
func schemaCreated() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }

// Metadata is the FOCUS metadata of an export: its generator, its columns and its
// files. Members that begin with x_ are ours.
type Metadata struct {
	DataGenerator struct{ DataGenerator string }
	Schema        []Schema
	SchemaID      string     `json:"SchemaId"`
	DataLocation  []Location `json:"data_location"`
	StartDate     string     `json:"x_StartDate"` // YYYY-MM-DD, both inclusive
	EndDate       string     `json:"x_EndDate"`
	AccountID     string     `json:"x_BillingAccountId,omitempty"` // "" for the whole platform
	CreditPrice   string     `json:"x_CreditPrice"`                // of one CREDIT, in the billing currency
}

// Schema lists the columns of a dataset.
type Schema struct {
	SchemaID             string `json:"SchemaId"`
	FocusVersion         string
	CreationDate         string // ISO 8601
	DataGeneratorVersion string
	ColumnDefinition     []ColumnDefinition
}

// ColumnDefinition is the type of a column.
type ColumnDefinition struct {
	ColumnName          string
	DataType            Type
	NumericPrecision    int      `json:",omitempty"`
	NumberScale         int      `json:",omitempty"`
	StringEncoding      string   `json:",omitempty"`
	ProviderTagPrefixes []string `json:",omitempty"`
}

// Location is a file of the dataset.
type Location struct {
	FilePath string `json:"filepath"` // relative to the directory of the metadata
	Bytes    int64  `json:"total_bytes"`
	Rows     int64  `json:"total_rows"`
	SHA256   string `json:"x_sha256"` // hex
}

// SchemaID returns an id that the columns determine.
func SchemaID(columns []Column) string {
	text, _ := json.Marshal(definitions(columns)) //nolint:errchkjson // texts and numbers always encode
	sum := sha256.Sum256(text)
	return fmt.Sprintf("netsim-focus-%s-%s", Version, hex.EncodeToString(sum[:6]))
}

func schemaOf(columns []Column, generator string) Schema {
	return Schema{
		SchemaID: SchemaID(columns), FocusVersion: Version, CreationDate: moment(schemaCreated()),
		DataGeneratorVersion: generator, ColumnDefinition: definitions(columns),
	}
}

func definitions(columns []Column) []ColumnDefinition {
	out := make([]ColumnDefinition, len(columns))
	for i, c := range columns {
		out[i] = ColumnDefinition{ColumnName: c.Name, DataType: c.Type}
		switch c.Type {
		case Decimal:
			out[i].NumericPrecision, out[i].NumberScale = Precision, Scale
		case String, JSON:
			out[i].StringEncoding = "UTF-8"
		case DateTime, Integer:
		}
		if c.Name == "Tags" {
			out[i].ProviderTagPrefixes = []string{TagPrefix}
		}
	}
	return out
}
