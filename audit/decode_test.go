package audit

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/events"
)

func anyTime(t *rapid.T) time.Time {
	return time.Unix(rapid.Int64Range(-60_000_000_000, 200_000_000_000).Draw(t, "seconds"),
		rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
}

func anyText(t *rapid.T) string {
	return rapid.OneOf(rapid.StringMatching(`[ -~]{0,12}`), rapid.String(), rapid.Just("")).Draw(t, "text")
}

// fast reads a text with the fast decoder.
func fast[T any](r *reader[T], value []byte) (any, bool) {
	var data T
	ok := r.read(value, &data)
	return data, ok
}

// TestDecodeEqualsTheCodec: the fast decoder either refuses a text or reads it as
// encoding/json does. The texts are events, some of them damaged.
func TestDecodeEqualsTheCodec(t *testing.T) {
	t.Parallel()
	r := new(readers) // shared by all examples
	rapid.Check(t, func(t *rapid.T) {
		number := func() int64 { return rapid.Int64().Draw(t, "number") }
		var data events.Data
		switch rapid.IntRange(0, 3).Draw(t, "type") {
		case 0:
			c := events.DailyCostRated{
				DailyCostID: number(), BillingItemID: number(), ItemName: anyText(t), Date: anyText(t), Cost: anyText(t),
				PreviousCost: anyText(t), Quantity: number(), UserID: anyText(t), TierEnd: number(), CorrectionOf: number(),
				Supersedes: number(), Segments: []events.CostSegment{},
			}
			for range rapid.IntRange(0, 3).Draw(t, "segments") {
				c.Segments = append(c.Segments, events.CostSegment{From: anyTime(t), To: anyTime(t), Units: number(), Fraction: anyText(t), Count: number()})
			}
			data = c
		case 1:
			data = events.CreditHeld{SimulationID: anyText(t), Amount: anyText(t), ExpiresAt: anyTime(t)}
		case 2:
			data = events.CreditReleased{SimulationID: anyText(t), Reason: anyText(t)}
		default:
			data = events.UsageRecorded{
				BillingEventID: number(), Meter: anyText(t), Action: anyText(t), WorkspaceID: anyText(t), SizeBytes: number(),
				BillableCount: number(), OccurredAt: anyTime(t),
			}
		}
		value, err := events.Encode(data)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			at := rapid.IntRange(0, len(value)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				value[at] = rapid.SampledFrom([]byte(`0192-+.eEZT":,{}[] ntf\`)).Draw(t, "byte")
			case 1:
				value = append(bytes.Clone(value[:at]), value[at+1:]...)
			default:
				value = append(append(bytes.Clone(value[:at]), value[max(0, at-9):at]...), value[at:]...)
			}
		}
		want, failed := events.Decode(data.EventType(), value)
		var got any
		var ok bool
		switch want.(type) {
		case events.DailyCostRated:
			got, ok = fast(&r.cost, value)
		case events.UsageRecorded:
			got, ok = fast(&r.usage, value)
		case events.CreditHeld:
			got, ok = fast(&r.held, value)
		case events.CreditReleased:
			got, ok = fast(&r.released, value)
		default:
			_, costRead := fast(&r.cost, value)
			_, usageRead := fast(&r.usage, value)
			_, heldRead := fast(&r.held, value)
			_, releasedRead := fast(&r.released, value)
			read := map[string]bool{costType: costRead, usageType: usageRead, heldType: heldRead, releaseType: releasedRead}
			if read[data.EventType()] {
				t.Fatalf("%s was read, but encoding/json refuses it: %v", value, failed)
			}
			return
		}
		if diff := cmp.Diff(want, got); ok && diff != "" {
			t.Fatalf("%s (-codec +read):\n%s", value, diff)
		}
	})
}

// TestDecodeIsFastForWhatTheServiceWrites: events of the service take the fast
// path.
func TestDecodeIsFastForWhatTheServiceWrites(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 3, 4, 5, 678e6, time.UTC)
	cost, err := events.Encode(events.DailyCostRated{Cost: "0.5", Segments: []events.CostSegment{{From: at, To: at.Add(time.Hour), Units: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	usage, err := events.Encode(events.UsageRecorded{ItemName: "ring allreduce", OccurredAt: at})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := fast(new(reader[events.DailyCostRated]), cost); !ok {
		t.Errorf("the fast decoder does not read %s", cost)
	}
	if _, ok := fast(new(reader[events.UsageRecorded]), usage); !ok {
		t.Errorf("the fast decoder does not read %s", usage)
	}
}
