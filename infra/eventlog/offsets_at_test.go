package eventlog

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"netsim/events"
)

// Offsets are found by the times that records have, in every partition; where no
// record is that late, they are the ends.
func offsetsByTime(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Simulations)
	for n := range 3 {
		produceAt(t, k, topic, time.Now().Add(time.Duration(3*n)*time.Millisecond), message(fmt.Sprint(2*n)), message(fmt.Sprint(2*n+1)))
	}
	records := readAll(t, k, topic, 0, 6)
	for _, at := range []time.Time{{}, time.Unix(0, 0), records[0].Time, records[2].Time, records[2].Time.Add(time.Microsecond), records[4].Time, records[5].Time.Add(time.Millisecond), time.Now().Add(time.Hour)} {
		want := int64(slices.IndexFunc(records, func(r events.Record) bool { return !r.Time.Before(at) }))
		if want < 0 {
			want = 6
		}
		got, err := k.OffsetsAt(t.Context(), topic, at)
		if err != nil {
			t.Fatal(err)
		}
		if got[0] != want || slices.Max(got[1:]) != 0 {
			t.Errorf("at %s: %v, want %d in the first partition", at, got, want)
		}
	}
	if got, err := k.OffsetsAt(t.Context(), "no-such-topic", time.Now()); err == nil && len(got) > 0 || err != nil && !errors.Is(err, ErrNoTopic) {
		t.Errorf("of a missing topic: %v, %v", got, err)
	}
}
