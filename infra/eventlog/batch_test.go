package eventlog

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"netsim/events"
)

func decode(set []byte, from int64) ([]events.Record, error) {
	d := decoder{names: map[string]string{}}
	for {
		b, ok, err := takeBatch(&set)
		if !ok || err != nil {
			return d.records, err
		}
		if err := d.add(b, from); err != nil {
			return d.records, err
		}
	}
}

func TestEncodedBatchesDecodeToTheSameRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.Byte(), 0, 300))
		header := rapid.Custom(func(t *rapid.T) events.Header {
			return events.Header{Key: rapid.String().Draw(t, "name"), Value: bytes.Draw(t, "content")}
		})
		at := time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "time")).UTC()
		var set []byte
		var want []events.Record
		for range rapid.IntRange(1, 3).Draw(t, "batches") {
			var batch []*Pending
			size := batchHeader
			for i := range rapid.IntRange(1, 100).Draw(t, "records") {
				m := events.Message{
					Key: bytes.Draw(t, "key"), Value: bytes.Draw(t, "value"),
					Headers: rapid.SliceOfN(header, 0, 4).Draw(t, "headers"),
				}
				batch = append(batch, &Pending{message: m})
				want = append(want, events.Record{Message: m, Offset: int64(i), Time: at})
				size += sizeOf(&m)
			}
			before := len(set)
			set = appendBatch(set, batch, at)
			if len(set)-before > size {
				t.Fatalf("a batch has %d bytes, want at most %d by sizeOf", len(set)-before, size)
			}
		}
		// A broker truncates the last batch at the requested size.
		cut := append(set[:len(set):len(set)], set[:rapid.IntRange(0, len(set)/4).Draw(t, "cut")]...)
		cut = cut[:len(set)+min(len(cut)-len(set), batchHeader)]
		got, err := decode(cut, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("records (-want +got):\n%s", diff)
		}
	})
}

func TestDamagedBatchesAreRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		set := appendBatch(nil, []*Pending{{message: benchMessage()}, {message: message("b")}}, time.UnixMilli(1))
		at := rapid.IntRange(atCRC, len(set)-1).Draw(t, "at") // the broker writes the fields before the checksum
		set[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if records, err := decode(set, 0); err == nil {
			t.Fatalf("decode of a damaged batch: %d records, want an error", len(records))
		}
	})
}

// FuzzFetched decodes responses that no broker would send. Decoding must return
// without a panic.
func FuzzFetched(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, 200))
	f.Fuzz(func(t *testing.T, body []byte) {
		if res, err := decodeFetched(body); err == nil && len(res.set) > len(body) {
			t.Errorf("a record set of %d bytes from a body of %d", len(res.set), len(body))
		}
		if len(body) < batchHeader {
			return
		}
		d := decoder{names: map[string]string{}}
		_ = d.add(batch{header: body[:batchHeader], records: body[batchHeader:]}, 0) //nolint:errcheck // any error will do
	})
}
