package export

import (
	"slices"
	"strings"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/tables"
)

// covers reports whether a partition of a family can have facts that pass.
func (f *Filters) covers(family events.Family, partition, count int32) bool {
	if len(f.Families) > 0 && !slices.Contains(f.Families, family) {
		return false
	}
	if len(f.Streams) > 0 && !slices.ContainsFunc(f.Streams, func(s string) bool {
		of, err := events.FamilyOf(s)
		return err == nil && of == family
	}) {
		return false
	}
	// A workspace's facts are in one partition. Those of billing are in its account's.
	return len(f.Workspaces) == 0 || family == events.Billing || slices.ContainsFunc(f.Workspaces, func(w string) bool {
		return events.PartitionOf(w, count) == partition
	})
}

// filter selects the facts of one partition. It must see all of them in order.
type filter struct {
	Filters
	owned     map[string]bool // the account's workspaces
	streams   map[string]bool // the account's streams in workspaces that are not its own
	account   int             // the columns of the table, -1 when there is none
	workspace int
}

func newFilter(f Filters, owned map[string]bool, t *tables.Table) *filter {
	return &filter{Filters: f, owned: owned, streams: map[string]bool{}, account: t.Index("account_id"), workspace: t.Index("workspace_id")}
}

// passes reports whether a fact is selected; r is its row.
func (f *filter) passes(fact *facts.Fact, r *tables.Row) bool {
	ofAccount := f.Account == "" || f.belongs(fact, r) // also remembers the stream
	return ofAccount &&
		(len(f.Types) == 0 || slices.Contains(f.Types, fact.Type)) &&
		(len(f.Streams) == 0 || slices.Contains(f.Streams, fact.Stream)) &&
		(len(f.Workspaces) == 0 || slices.Contains(f.Workspaces, fact.PartitionKey) || slices.Contains(f.Workspaces, text(r, f.workspace))) &&
		(f.From.IsZero() || !fact.Time.Before(f.From)) &&
		(f.To.IsZero() || fact.Time.Before(f.To))
}

// belongs reports whether a fact is the account's: of a stream or a workspace of the
// account, or of a stream that an earlier fact gave to the account.
func (f *filter) belongs(fact *facts.Fact, r *tables.Row) bool {
	if fact.PartitionKey == f.Account || fact.Stream == f.Account || f.owned[fact.PartitionKey] || f.streams[fact.Stream] {
		return true
	}
	if text(r, f.account) != f.Account {
		return false
	}
	f.streams[strings.Clone(fact.Stream)] = true
	return true
}

// text returns the text of a column, "" when it is null.
func text(r *tables.Row, index int) string {
	if index < 0 {
		return ""
	}
	v, _ := r.Get(index)
	return string(v.Text)
}
