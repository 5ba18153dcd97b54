package main

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"netsim/infra/wait"
)

// TestLoadCountsTimeouts: an operation that timed out in the server is counted, but not
// in the rate, and the load continues.
func TestLoadCountsTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		count := 0
		got, err := load(t.Context(), plan{run: time.Second}, []client{{do: func() error {
			if count++; count%2 == 0 {
				return errors.Join(errTimedOut, wait.For(t.Context(), time.Second/10))
			}
			return wait.For(t.Context(), time.Second/10)
		}}})
		if err != nil || got.TimedOut != 5 || got.PerSecond != 5 || got.P50 != time.Second/10 {
			t.Errorf("%+v, %v, of %d operations", got, err, count)
		}
	})
}

// TestLoadOfSlowOperations: if all operations take longer than the run, the rate is that
// of the time until they have ended.
func TestLoadOfSlowOperations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := client{do: func() error { return wait.For(t.Context(), 10*time.Second) }}
		got, err := load(t.Context(), plan{warm: time.Second, run: 4 * time.Second}, []client{slow, slow})
		if err != nil || got.Total != 2 || got.PerSecond != 0.2 || got.P99 != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestTakeoverCountsWritesAfterTheKill: a partition is taken over when a write that
// began after the kill has succeeded. A takeover is complete when all partitions are
// taken over.
func TestTakeoverCountsWritesAfterTheKill(t *testing.T) {
	t.Parallel()
	const shards = 3
	writes := &takeover{shards: shards, back: map[int32]time.Duration{}}
	killed := time.Now().Add(-time.Second)
	writes.succeeded(0, killed.Add(time.Millisecond)) // counts for nothing: no process is killed yet
	writes.killed(killed)
	writes.succeeded(0, killed.Add(-time.Millisecond)) // counts for nothing: the write began before the kill
	if len(writes.back) != 0 {
		t.Errorf("partitions %v count too early", writes.back)
	}
	for partition := range int32(shards) {
		done := writes.succeeded(partition, killed.Add(time.Millisecond))
		if done != (partition == shards-1) || writes.back[partition] < time.Second {
			t.Errorf("after partition %d the takeover is done: %t, in %v", partition, done, writes.back[partition])
		}
	}
}
