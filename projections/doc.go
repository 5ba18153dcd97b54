// Package projections folds facts into the tables of the read model. The tables
// and indexes of a projection are in one .sql file, its row types, fold and queries
// in .go files. A column is a line of the .sql file and a field of the row's struct
// (package columns). A row depends only on the facts of one stream, or is a sum
// over several streams. So neither the batches nor the order between streams
// matter, and a rebuilt read model equals the live one.
package projections

import (
	"embed"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/columns"
)

//go:embed *.sql
var ddl embed.FS

// Projection is a part of the read model. Package projector documents its
// methods.
type Projection interface {
	Schema() string
	Load(reads *pgx.Batch, facts []events.Fact)
	Apply(writes *columns.Writes, facts []events.Fact) error
	Forget()
}

// All returns every projection, with empty caches.
func All() []Projection {
	return []Projection{
		NewWorkspaces(), NewWebhooks(), NewConfigurations(), NewSimulations(), NewStudies(), NewTracesets(), NewUploads(), NewMappingFiles(),
		NewUsage(), NewCosts(), NewHolds(), NewRates(), NewQuotas(), NewOperations(), NewCheckpoints(),
	}
}

// schema returns the SQL that creates a projection's tables and indexes.
func schema(file string) string {
	text, err := ddl.ReadFile(file)
	if err != nil {
		panic("projections: " + file + " is not embedded") // only a wrong build can cause it
	}
	return string(text)
}

// streamOf returns a function that returns a fact's stream, or "" if the stream
// lacks the prefix.
func streamOf(prefix string) func(*events.Fact) string {
	return func(f *events.Fact) string {
		if p, _, _ := strings.Cut(f.Stream, "_"); p == prefix {
			return f.Stream
		}
		return ""
	}
}

// timeOf returns the fact's time. A pointer into the fact would keep its whole batch
// in memory as long as the row is cached.
func timeOf(f *events.Fact) *time.Time {
	at := f.Time
	return &at
}

// begins reports whether the fact is the first of its stream.
func begins(f *events.Fact) bool { return f.Sequence == 1 }

// begun returns the row after the first event of its stream.
func begun[R any](fold func(*R, *events.Fact), e *events.Event) (r R) {
	fold(&r, &events.Fact{Event: *e})
	return r
}
