package publisher

import (
	"errors"
	"testing"

	"netsim/events"
	"netsim/internal/publictest"
	"netsim/internal/testworld"
)

// A topic is made again under running publishers and live traffic, at every step of a
// session: it has every fact from offset 0 on, and the other topics are as they were.
func TestRepublish(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 2, 2)
	for _, key := range []int16{keyProduce, keyEndTxn} {
		for _, answer := range []bool{false, true} {
			fault := newFaulty(t, key, 1, answer, true)
			c := configOf(w)
			c.dial = fault.dial
			_, stop := start(t, c)
			testworld.Await(t, func() bool {
				makeFacts(t, w, 1, 1)
				return fault.happened()
			})
			if err := Republish(t.Context(), configOf(w), events.Workspaces, "a process"); err != nil {
				t.Fatal(err)
			}
			fault.release()
			awaitPublished(t, w) // although there is nothing new
			equalToLog(t, w)
			stop()
		}
	}
}

// Without transactions, a running publisher could write into the new topic from the
// middle.
func TestRepublishWithoutTransactions(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 2, 2)
	c := configOf(w)
	c.Untransacted = true
	_, stop := start(t, c)
	awaitPublished(t, w)
	if err := Republish(t.Context(), c, events.Workspaces, "a process"); !errors.Is(err, ErrHeld) {
		t.Errorf("while a publisher runs: %v", err)
	}
	stop()
	if err := Republish(t.Context(), c, events.Workspaces, ""); err != nil {
		t.Fatal(err)
	}
	if got := topics(w).Consume(t, events.Workspaces, 0); len(got) != 0 {
		t.Errorf("the new topic has %d records", len(got))
	}
	start(t, c)
	makeFacts(t, w, 1, 1)
	awaitPublished(t, w)
	equalToLog(t, w)
}

// A topic can be made again with more partitions.
func TestMorePartitions(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 6, 1)
	c := configOf(w)
	_, stop := start(t, c)
	awaitPublished(t, w)
	stop()
	c.Partitions = 3 * w.Log.Partitions
	p, stop := start(t, c)
	testworld.Await(t, func() bool { return p.Report().Failure != nil })
	for _, family := range events.Families() {
		if err := Republish(t.Context(), c, family, ""); err != nil {
			t.Fatal(err)
		}
	}
	makeFacts(t, w, 6, 1)
	awaitPublished(t, w)
	stop()

	makeFacts(t, w, 2, 1)
	start(t, c) // finds the last fact of each partition
	awaitPublished(t, w)
	want := map[publictest.Record]bool{}
	for partition := range w.Log.Partitions {
		for _, r := range topics(w).Facts(t, events.Workspaces, partition) {
			want[r] = true
		}
	}
	for partition := range c.Partitions {
		last := int64(-1)
		for _, r := range topics(w).Consume(t, events.Workspaces, partition) {
			if r.Offset <= last || !want[r] {
				t.Errorf("partition %d: %+v after offset %d", partition, r, last)
			}
			last = r.Offset
			delete(want, r)
		}
	}
	if len(want) > 0 {
		t.Errorf("%d facts are not published", len(want))
	}
}
