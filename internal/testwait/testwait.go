// Package testwait bounds the waits of tests. A wait that times out fails the test at its
// line, names what it waited for, and dumps all goroutines. Without a bound the test
// would hang until the test binary is killed.
//
//	run := testwait.Receive(t, started, "the run to start")
//	testwait.Group(t, &writers, "the writers")
//	err := testwait.Call(t, command.Wait, "the child to end")
//
// These functions must be called in the goroutine of the test. Gate is for other
// goroutines.
package testwait

import (
	"context"
	"os"
	"runtime/pprof"
	"sync"
	"time"
)

const (
	longest = 10 * time.Minute // a wait of a test without a deadline
	margin  = 20 * time.Second // a wait ends this long before the test binary's deadline, so its failure is reported
)

// Test is a *testing.T, a *testing.B or a *rapid.T.
type Test interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}

// Receive returns the next value of the channel, or the zero value when it is
// closed.
func Receive[T any](t Test, from <-chan T, what string) T {
	t.Helper()
	began := time.Now()
	expired := time.NewTimer(Limit(t))
	defer expired.Stop()
	select {
	case got := <-from:
		return got
	case <-expired.C:
		pprof.Lookup("goroutine").WriteTo(os.Stderr, 1) //nolint:errcheck // the failure is reported in any case
		t.Fatalf("waited %s in vain for %s", time.Since(began).Round(time.Second), what)
		panic("unreachable")
	}
}

// Limit returns how long a wait of the test may take: until shortly before the deadline of
// the test binary. What is waited for has no limit of its own, because a busy machine may
// be slow. When the deadline is near, what is left is halved, so that waits of cleanups have
// some time, too.
func Limit(t any) time.Duration {
	deadline, set := deadlineOf(t)
	if !set {
		return longest
	}
	left := time.Until(deadline)
	return max(left-margin, left/2)
}

// deadlineOf returns the deadline of the test binary. A synctest bubble has its own clock
// and no deadline.
func deadlineOf(t any) (deadline time.Time, set bool) {
	defer func() {
		if recover() != nil { // Deadline panics in a bubble
			set = false
		}
	}()
	if timed, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		return timed.Deadline()
	}
	return deadline, false
}

// Call calls f, which takes no context, and returns its result.
func Call[T any](t Test, f func() T, what string) T {
	t.Helper()
	returned := make(chan T, 1)
	go func() { returned <- f() }()
	return Receive(t, returned, what)
}

// Group waits for the group.
func Group(t Test, group *sync.WaitGroup, what string) {
	t.Helper()
	Call(t, func() struct{} { group.Wait(); return struct{}{} }, what)
}

// Gate waits until the channel receives a value or is closed, or the test ends. It
// is for goroutines other than the test's.
func Gate[T any](t Test, until <-chan T) {
	select {
	case <-until:
	case <-t.Context().Done():
	}
}
