package main

import (
	"testing"
	"time"
)

// TestLoadCountsTimeouts: an operation that timed out in the server is counted and is
// no part of the rate; the load goes on.
func TestLoadCountsTimeouts(t *testing.T) {
	t.Parallel()
	count := 0
	got, err := load(t.Context(), plan{run: 50 * time.Millisecond}, []client{{do: func() error {
		count++
		if count%2 == 0 {
			return errTimedOut
		}
		return nil
	}}})
	if err != nil || got.Total != count || got.TimedOut != count/2 || got.PerSecond <= 0 {
		t.Errorf("%+v, %v, of %d operations", got, err, count)
	}
}

// TestLoadOfSlowOperations: a load whose operations all take longer than the run still
// has a rate.
func TestLoadOfSlowOperations(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), false
	timer := time.AfterFunc(20*time.Millisecond, func() { close(begun) })
	defer timer.Stop()
	got, err := load(t.Context(), plan{run: time.Millisecond}, []client{{do: func() error { <-begun; ended = true; return nil }}})
	if err != nil || !ended || got.Total != 1 || got.PerSecond <= 0 || got.P99 != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestTakeoverCountsWritesAfterTheKill: a partition is taken over when a write that
// began after the kill has succeeded, and a takeover when all partitions are.
func TestTakeoverCountsWritesAfterTheKill(t *testing.T) {
	t.Parallel()
	writes := &takeover{back: map[int32]time.Duration{}}
	killed := time.Now().Add(-time.Second)
	writes.succeeded(0, killed.Add(time.Millisecond)) // nothing is killed yet
	writes.killed(killed)
	writes.succeeded(0, killed.Add(-time.Millisecond)) // it began before
	if len(writes.back) != 0 {
		t.Errorf("partitions %v count too early", writes.back)
	}
	for partition := range int32(severalShards) {
		done := writes.succeeded(partition, killed.Add(time.Millisecond))
		if done != (partition == severalShards-1) || writes.back[partition] < time.Second {
			t.Errorf("after partition %d the takeover is done: %t, in %v", partition, done, writes.back[partition])
		}
	}
}
