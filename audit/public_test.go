package audit

import (
	"context"
	"slices"
	"strings"
	"testing"

	"netsim/events"
)

// publicWorld has public topics in memory, each with twice as many partitions as the log.
type publicWorld struct {
	topics  map[string][]events.Record // by family and partition
	starts  map[string]int64
	claimed int64
	missing events.Family
}

const publicParts = 2 * testParts

// publish publishes the facts of a log.
func publish(t *testing.T, log *Log) *publicWorld {
	t.Helper()
	w := &publicWorld{topics: map[string][]events.Record{}, starts: map[string]int64{}}
	for _, p := range log.open() {
		err := p.advance(t.Context(), p.topic.Ends[p.number], func(f *Fact) error {
			name := partitionName(string(f.Where.Topic), events.PartitionOf(f.PartitionKey, publicParts))
			r := events.Record{Offset: int64(len(w.topics[name])), Message: events.Message{Key: []byte(f.Stream), Value: f.Value}}
			for key, value := range publicHeaders(f) {
				r.Headers = append(r.Headers, events.Header{Key: key, Value: []byte(value)})
			}
			w.topics[name] = append(w.topics[name], r)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// Partitions implements PublicTopics.
func (w *publicWorld) Partitions(_ context.Context, family events.Family) (string, int32, error) {
	if family == w.missing {
		return "public." + string(family), 0, nil
	}
	return "public." + string(family), publicParts, nil
}

// Start implements PublicTopics.
func (w *publicWorld) Start(_ context.Context, family events.Family, partition int32) (int64, error) {
	return w.starts[partitionName(string(family), partition)], nil
}

// Read implements PublicTopics. It returns three records at a time.
func (w *publicWorld) Read(_ context.Context, family events.Family, partition int32, from int64) ([]events.Record, int64, error) {
	all := w.topics[partitionName(string(family), partition)]
	i, _ := slices.BinarySearchFunc(all, from, func(r events.Record, from int64) int { return int(r.Offset - from) })
	some := slices.Clone(all[i:min(i+3, len(all))])
	if len(some) == 0 {
		return nil, from, nil
	}
	return some, some[len(some)-1].Offset + 1, nil
}

// Claimed implements PublicTopics.
func (w *publicWorld) Claimed(context.Context, events.Family, int32) (int64, error) {
	return w.claimed, nil
}

// TestComparePublic: the public topics of a log agree with it, also while they lag and
// after old records expired. The first of any other difference is found.
func TestComparePublic(t *testing.T) {
	t.Parallel()
	mine := partitionName("billing", events.PartitionOf(alice, publicParts))
	set := func(r *events.Record, key, value string) {
		r.Headers = slices.Clone(r.Headers)
		for i := range r.Headers {
			if r.Headers[i].Key == key {
				r.Headers[i].Value = []byte(value)
			}
		}
	}
	for name, tt := range map[string]struct {
		change           func(w *publicWorld, all []events.Record) []events.Record // of alice's partition
		want             string                                                    // "" if nothing is found
		expired, pending int64
	}{
		"equal":             {change: func(_ *publicWorld, all []events.Record) []events.Record { return all }},
		"not published yet": {change: func(_ *publicWorld, all []events.Record) []events.Record { return all[:len(all)-2] }, pending: 2},
		"a lost end": {change: func(w *publicWorld, all []events.Record) []events.Record {
			w.claimed = 1 << 40
			return all[:len(all)-2]
		},
			want: "its publisher claims that it is published"},
		"expired": {change: func(w *publicWorld, all []events.Record) []events.Record { w.starts[mine] = 2; return all[2:] }, expired: 2},
		"all expired": {change: func(w *publicWorld, all []events.Record) []events.Record {
			w.starts[mine] = int64(len(all))
			return nil
		}, expired: -1},
		"one missing": {change: func(_ *publicWorld, all []events.Record) []events.Record { return slices.Delete(all, 1, 2) },
			want: "stream " + alice + " must follow here: event"},
		"the first missing": {change: func(_ *publicWorld, all []events.Record) []events.Record { return all[1:] }, want: "must follow here: event"},
		"one twice": {change: func(_ *publicWorld, all []events.Record) []events.Record {
			return slices.Insert(all, 2, all[1])
		}, want: "must follow here: event"},
		"the last twice": {change: func(_ *publicWorld, all []events.Record) []events.Record { return append(all, all[len(all)-1]) },
			want: "the log has no further fact before offset"},
		"another order": {change: func(_ *publicWorld, all []events.Record) []events.Record {
			all[1], all[2] = all[2], all[1]
			return all
		}, want: "must follow here: event"},
		"other data": {change: func(_ *publicWorld, all []events.Record) []events.Record {
			all[1].Value = append([]byte{' '}, all[1].Value...)
			return all
		}, want: "has other data"},
		"another hash": {change: func(_ *publicWorld, all []events.Record) []events.Record {
			set(&all[1], "ce_hash", strings.Repeat("0", 64))
			return all
		}, want: `has ce_hash "000`},
		"another key": {change: func(_ *publicWorld, all []events.Record) []events.Record {
			all[1].Key = []byte(bob)
			return all
		}, want: `has the key "` + bob},
		"a header more": {change: func(_ *publicWorld, all []events.Record) []events.Record {
			all[1].Headers = append(slices.Clone(all[1].Headers), events.Header{Key: "ce_name", Value: []byte("Ada")})
			return all
		}, want: "has the header ce_name, which no public fact has"},
		"a header less": {change: func(_ *publicWorld, all []events.Record) []events.Record {
			all[1].Headers = slices.DeleteFunc(slices.Clone(all[1].Headers), func(h events.Header) bool { return h.Key == "ce_actor" })
			return all
		}, want: "has no header ce_actor"},
		"not a fact": {change: func(_ *publicWorld, all []events.Record) []events.Record {
			return append(all, events.Record{Message: events.Message{Key: []byte("x")}})
		}, want: "a record without an event's id"},
		"no topic": {change: func(w *publicWorld, all []events.Record) []events.Record { w.missing = events.Billing; return all },
			want: "there is no public topic of billing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := fourDays(t).log()
			w := publish(t, log)
			facts := int64(len(w.topics[mine]))
			changed := tt.change(w, slices.Clone(w.topics[mine]))
			if name != "expired" {
				for i := range changed {
					changed[i].Offset = int64(i)
				}
			}
			w.topics[mine] = changed
			r, err := ComparePublic(t.Context(), log, w)
			if err != nil {
				t.Fatal(err)
			}
			reported := findings(r.Findings)
			if (reported == "") != (tt.want == "") || !strings.Contains(reported, tt.want) || len(r.Findings) > 1 {
				t.Errorf("found %q, want %q", reported, tt.want)
			}
			var total PublicFamily
			for _, f := range r.Families {
				total.Same, total.Expired, total.Pending = total.Same+f.Same, total.Expired+f.Expired, total.Pending+f.Pending
			}
			if tt.expired < 0 {
				tt.expired = facts
			}
			if tt.want == "" && (total.Same == 0 || total.Expired != tt.expired || total.Pending != tt.pending) {
				t.Errorf("%+v, want %d expired and %d pending", total, tt.expired, tt.pending)
			}
			if whole := whole(t, log, newTestKey(t).Verifier); tt.want == "" && total.Same+total.Expired+total.Pending != whole.Facts {
				t.Errorf("%+v of %d facts", total, whole.Facts)
			}
		})
	}
}
