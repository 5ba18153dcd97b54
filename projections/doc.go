// Package projections turns facts into the tables that are read. The tables and
// indexes of a projection are in one .sql file, its rows and fold in one .go
// file, its queries in others. A column is a line of the .sql and a field of the
// row's struct (package columns). A row is a function of the facts of its own
// stream, so neither the batches nor the order between streams matter, and a
// rebuilt read model equals the live one.
package projections

import (
	"embed"
	"strings"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

//go:embed *.sql
var ddl embed.FS

// Projection is a part of the read model; package projector says what its
// methods do.
type Projection interface {
	Schema() string
	Load(reads *pgx.Batch, facts []events.Fact)
	Apply(writes *pgx.Batch, facts []events.Fact) error
	Forget()
}

// All returns every projection, with empty caches.
func All() []Projection {
	return []Projection{
		NewWorkspaces(), NewConfigurations(), NewSimulations(), NewTracesets(), NewUploads(), NewMappingFiles(),
		NewUsage(), NewCosts(), NewHolds(), NewRates(), NewQuotas(),
	}
}

// schema returns a projection's tables and indexes.
func schema(file string) string {
	text, err := ddl.ReadFile(file)
	if err != nil {
		panic("projections: " + file + " is not embedded") // only a build can cause it
	}
	return string(text)
}

// streamOf returns the fact's stream when it has the prefix, and "".
func streamOf(prefix string) func(*events.Fact) string {
	return func(f *events.Fact) string {
		if p, _, _ := strings.Cut(f.Stream, "_"); p == prefix {
			return f.Stream
		}
		return ""
	}
}

// begins reports whether the fact is the first of its stream.
func begins(f *events.Fact) bool { return f.Sequence == 1 }
