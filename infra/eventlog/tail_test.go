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

// What is in the log already is recalled from memory, or else from the broker, and is
// the same.
func recallReturnsWhatAFetchReturns(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Simulations)
	_, end, err := k.Read(t.Context(), topic, 0, 0, 1<<20, 0)
	if err != nil {
		t.Fatal(err)
	}
	await(t, k.Append(topic, 0, message("before it is followed")))
	if _, _, err := k.Follow(t.Context(), topic, 0, end, 1<<20, time.Minute); err != nil {
		t.Fatal(err)
	}
	await(t, k.Append(topic, 0, message("own 1")))
	await(t, k.Append(topic, 0, message("own 2")))
	for from := end; from < end+3; from++ {
		recalled, _, err := k.Recall(t.Context(), topic, 0, from, 1<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		fetched, _, err := k.Read(t.Context(), topic, 0, from, 1<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fetched, recalled); diff != "" || len(recalled) == 0 {
			t.Errorf("from %d (-fetched +recalled):\n%s", from, diff)
		}
	}
	k.Close()
	got, _, err := k.Recall(t.Context(), topic, 0, end+2, 1<<20, 0)
	if err != nil || namesOf(got) != "own 2" {
		t.Errorf("recalled %q, %v, want own 2 without asking the broker", namesOf(got), err)
	}
	if _, _, err := k.Recall(t.Context(), topic, 0, end, 1<<20, 0); err == nil {
		t.Error("what memory does not have was recalled without asking the broker")
	}
}

// Tails keep the newest records of all partitions within their budget, and begin again
// after a gap.
func TestTails(t *testing.T) {
	t.Parallel()
	all := newTails(100)
	at := func(partition int32) topicPartition { return topicPartition{"t", partition} }
	clock := time.Unix(1e9, 0)
	add := func(partition int32, base int64, sizes ...int) {
		batch := make([]*Pending, len(sizes))
		for i, size := range sizes {
			batch[i] = &Pending{size: size}
		}
		clock = clock.Add(time.Millisecond)
		all.add(at(partition), batch, base, clock)
	}
	offsets := func(partition int32, from int64, maxBytes int) string {
		found, _, _, _ := all.since(at(partition), from, maxBytes)
		text := ""
		for _, r := range found {
			text += fmt.Sprint(r.Offset, " ")
		}
		return text
	}
	expect := func(partition int32, from int64, maxBytes int, want string) {
		t.Helper()
		if got := offsets(partition, from, maxBytes); got != want {
			t.Errorf("partition %d from %d, %d bytes: %q, want %q", partition, from, maxBytes, got, want)
		}
	}
	add(0, 4, 10) // nobody follows the partition
	all.follow(at(0))
	all.follow(at(1))
	add(0, 5, 10)
	add(0, 6, 10)
	add(0, 7, 10)
	expect(0, 4, 100, "")
	expect(0, 5, 100, "5 6 7 ")
	expect(0, 6, 1, "6 ")
	expect(0, 5, 25, "5 6 ")
	expect(0, 8, 100, "")
	expect(0, 9, 100, "")
	held, _, _, _ := all.since(at(0), 5, 100)
	add(1, 70, 40)
	add(1, 71, 45) // 115 bytes
	if held[0].Offset != 5 || held[1].Offset != 6 {
		t.Errorf("what a follower has got changed to offsets %d and %d when it was dropped", held[0].Offset, held[1].Offset)
	}
	expect(0, 6, 100, "")
	expect(0, 7, 100, "7 ")
	expect(1, 70, 100, "70 71 ")
	add(0, 8, 10) // 105 bytes, the first of which are of this partition
	expect(0, 7, 100, "")
	expect(0, 8, 100, "8 ")
	add(0, 9, 10) // the first are of the other partition
	expect(1, 70, 100, "")
	expect(1, 71, 100, "71 ")
	add(0, 11, 10)
	expect(0, 8, 100, "")
	expect(0, 11, 100, "11 ")
	add(1, 72, 200) // more than the budget
	expect(1, 72, 200, "")
	if all.bytes != 0 {
		t.Errorf("empty tails have %d bytes", all.bytes)
	}
}
