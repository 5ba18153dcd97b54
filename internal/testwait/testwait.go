// Package testwait bounds what tests wait for. A wait that is in vain fails the
// test with what it waited for, at the line of the wait, and says what every
// goroutine was at; it does not hang until the test binary is killed.
//
//	run := testwait.Receive(t, started, "the run to start")
//	testwait.Group(t, &writers, "the writers")
//	err := testwait.Call(t, command.Wait, "the child to end")
//
// The functions are for the goroutine of the test. A goroutine beside it waits
// in a select with t.Context().Done().
package testwait

import (
	"runtime/pprof"
	"sync"
	"testing"
	"time"
)

const (
	longest = 3 * time.Minute  // of one wait
	margin  = 10 * time.Second // before the test binary's own deadline, so that the failure is still reported
)

// Receive returns what comes on the channel, the zero value when it is closed.
func Receive[T any](t testing.TB, from <-chan T, what string) T {
	t.Helper()
	began := time.Now()
	limit := began.Add(longest)
	if timed, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, set := timed.Deadline(); set && deadline.Add(-margin).Before(limit) {
			limit = deadline.Add(-margin)
		}
	}
	expired := time.NewTimer(time.Until(limit))
	defer expired.Stop()
	select {
	case got := <-from:
		return got
	case <-expired.C:
		pprof.Lookup("goroutine").WriteTo(t.Output(), 1) //nolint:errcheck // the failure is reported in any case
		t.Fatalf("waited %s in vain for %s", time.Since(began).Round(time.Second), what)
		panic("unreachable")
	}
}

// Call returns what f does, which has no context to bound it.
func Call[T any](t testing.TB, f func() T, what string) T {
	t.Helper()
	returned := make(chan T, 1)
	go func() { returned <- f() }()
	return Receive(t, returned, what)
}

// Group waits for the group.
func Group(t testing.TB, group *sync.WaitGroup, what string) {
	t.Helper()
	Call(t, func() struct{} { group.Wait(); return struct{}{} }, what)
}
