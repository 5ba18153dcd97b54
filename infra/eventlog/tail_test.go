package eventlog

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/internal/testwait"
)

// A follower gets the records of two processes, each once, in order, and as a
// fetch returns them, whichever of them it gets from memory.
func followReturnsWhatAFetchReturns(t *testing.T, c Config) {
	c.Prefix = freshPrefix()
	one, other := open(t, c), open(t, c)
	topic := one.Topic(events.Simulations)
	const each = 200
	var writers sync.WaitGroup
	for i, k := range []*Kafka{one, other} {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		writers.Go(func() {
			for n := range each {
				p := k.Append(topic, 0, message(fmt.Sprint(i, n)))
				if random.IntN(3) > 0 { // otherwise the next record is in the same batch
					await(t, p)
				}
			}
		})
	}
	var followed []events.Record
	for from := int64(0); from < 2*each; from = int64(len(followed)) {
		records, _, err := one.Follow(t.Context(), topic, 0, from, 1<<10, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		followed = append(followed, records...)
	}
	testwait.Group(t, &writers, "the writers")
	var fetched []events.Record
	for from := int64(0); from < 2*each; from = int64(len(fetched)) {
		records, _, err := one.Read(t.Context(), topic, 0, from, 1<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		fetched = append(fetched, records...)
	}
	if diff := cmp.Diff(fetched, followed); diff != "" {
		t.Errorf("followed (-fetched +followed):\n%s", diff)
	}
}

// A follower gets the records of its own process without the broker.
func followReadsOwnAppendsFromMemory(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Simulations)
	if _, _, err := k.Follow(t.Context(), topic, 0, 0, 1<<20, 0); err != nil {
		t.Fatal(err)
	}
	await(t, k.Append(topic, 0, message("own")))
	k.Close()
	got, end, err := k.Follow(t.Context(), topic, 0, 0, 1<<20, 0)
	if err != nil || namesOf(got) != "own" || end != 1 {
		t.Errorf("followed %q up to %d, %v; want own up to 1", namesOf(got), end, err)
	}
	if _, _, err := k.Read(t.Context(), topic, 0, 0, 1<<20, 0); err == nil {
		t.Error("Read returned records without asking the broker")
	}
}

// A tail keeps the newest records up to its size, and begins again after a gap.
func TestTail(t *testing.T) {
	t.Parallel()
	tail := &tail{grown: make(chan struct{})}
	add := func(base int64, sizes ...int) {
		batch := make([]*Pending, len(sizes))
		for i, size := range sizes {
			batch[i] = &Pending{size: size}
		}
		tail.add(topicPartition{"t", 0}, batch, base, time.Now())
	}
	offsets := func(from int64, maxBytes int) string {
		found, _, _, _ := tail.since(from, maxBytes)
		text := ""
		for _, r := range found {
			text += fmt.Sprint(r.Offset, " ")
		}
		return text
	}
	add(5, 10, 10, 10)
	for _, test := range []struct {
		from     int64
		maxBytes int
		want     string
	}{{4, 100, ""}, {5, 100, "5 6 7 "}, {6, 1, "6 "}, {5, 25, "5 6 "}, {8, 100, ""}, {9, 100, ""}} {
		if got := offsets(test.from, test.maxBytes); got != test.want {
			t.Errorf("from %d, %d bytes: %q, want %q", test.from, test.maxBytes, got, test.want)
		}
	}
	held, _, _, _ := tail.since(5, 100)
	add(8, tailBytes-10)
	if held[0].Offset != 5 || held[1].Offset != 6 {
		t.Errorf("what a follower has got changed to offsets %d and %d when the tail dropped it", held[0].Offset, held[1].Offset)
	}
	if got := offsets(7, tailBytes); got != "7 8 " {
		t.Errorf("a full tail has %q, want 7 8", got)
	}
	if got := offsets(6, tailBytes); got != "" {
		t.Errorf("what was dropped is returned: %q", got)
	}
	add(11, 10)
	if got := offsets(8, tailBytes); got != "" || offsets(11, 100) != "11 " {
		t.Errorf("after a gap the tail returns %q from offset 8", got)
	}
}
