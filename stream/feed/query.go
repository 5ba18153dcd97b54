package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/facts"
	"netsim/stream/public"
)

// Owner is the account and the workspace that a stream belongs to, "" for none.
type Owner struct{ AccountID, WorkspaceID string }

// Query says which facts a feed sends.
type Query struct {
	// Keys has the families of the feed, and the partition keys that its facts can
	// have: nil for every key.
	Keys    map[events.Family][]string
	Types   []string // nil: every type
	Stream  string   // "": every stream
	Account string   // the facts' owner; "": every account
	// Sees reports whether the client may see a fact and asks for it, as far as its
	// owner decides. Facts of streams without an account are offered to every feed.
	Sees func(f *facts.Fact, owner Owner) bool
	// Check returns an error when the client may no longer read. It is called about
	// once a heartbeat.
	Check func(ctx context.Context) error
}

// asks reports whether the query asks for the fact, whichever account owns it.
func (q *Query) asks(f *facts.Fact) bool {
	return (q.Stream == "" || q.Stream == f.Stream) && (q.Types == nil || slices.Contains(q.Types, f.Type))
}

// wants reports whether the feed sends the fact.
func (q *Query) wants(f *facts.Fact, owner Owner) bool {
	return q.asks(f) && (q.Account == "" || owner.AccountID == "" || owner.AccountID == q.Account) && q.Sees(f, owner)
}

// part is a partition.
type part struct {
	family    events.Family
	partition int32
}

// parts returns the partitions that the query can touch, in a fixed order.
func (q *Query) parts(counts map[events.Family]int32) []part {
	var all []part
	for _, family := range events.Families() {
		keys, ok := q.Keys[family]
		if !ok {
			continue
		}
		for partition := range counts[family] {
			if keys == nil || slices.ContainsFunc(keys, func(key string) bool { return events.PartitionOf(key, counts[family]) == partition }) {
				all = append(all, part{family, partition})
			}
		}
	}
	return all
}

// Entry is a fact as feeds send it. Its memory is not shared with the batch.
type Entry struct {
	ID, Type, Stream string    // of the event
	RecordedAt       time.Time // when the log recorded it
	JSON             []byte    // the public form, one line without the line feed
	part             part
	next             int64 // the offset after the fact
}

func newEntry(f *facts.Fact, topic string) *Entry {
	return &Entry{
		ID: f.ID, Type: f.Type, Stream: f.Stream, RecordedAt: f.RecordedAt, JSON: public.AppendJSON(nil, f, topic),
		part: part{f.Family, f.Partition}, next: f.Offset + 1,
	}
}

// Start is where a feed begins: at a position, encoded or by partition, or else with
// the first fact recorded at a time, or else with the next one.
type Start struct {
	Position []byte
	Offsets  Offsets
	Since    time.Time
}

// Layout returns a text that is equal for two queries whose positions have the same
// partitions.
func (h *Hub) Layout(q *Query) string { return fmt.Sprint(q.parts(h.Partitions)) }

// MaxParts is the largest number of partitions of a feed. Its position then has at
// most about a kilobyte.
const MaxParts = 170

// errPosition refuses a position from which no feed can resume.
var errPosition = errors.New("the position belongs to another log or lies behind its end")

// resumable is the refusal of a position.
func resumable(cause error) error {
	return &fault.Fault{Code: fault.Validation, Message: "the last event id cannot be resumed from: " + cause.Error() + "; begin with since", Cause: cause}
}
