package testwait

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// recorded is a test whose failure is looked at.
type recorded struct {
	testing.TB
	said   bytes.Buffer
	failed bool
}

func (*recorded) Helper() {}
func (r *recorded) Fatalf(format string, args ...any) {
	r.failed = true
	fmt.Fprintf(&r.said, format, args...)
	runtime.Goexit()
}

// deadlined is one of a test binary that has to end soon.
type deadlined struct{ *recorded }

func (deadlined) Deadline() (time.Time, bool) { return time.Now().Add(margin), true }

// TestInVain: a wait for what never comes fails the test with what it was, and
// ends before the test binary's deadline does.
func TestInVain(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(Test){
		"a channel": func(t Test) { Receive(t, make(chan int), "a number") },
		"a group": func(t Test) {
			var group sync.WaitGroup
			group.Add(1)
			Group(t, &group, "a number")
		},
		"a call": func(t Test) { Call(t, func() error { select {} }, "a number") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorded{TB: t}
			Receive(t, begin(func() { wait(deadlined{r}) }), "the wait to end")
			if want := "in vain for a number"; !r.failed || !strings.Contains(r.said.String(), want) {
				t.Errorf("it said %q, which has no %q", r.said.String(), want)
			}
		})
	}
}

// TestNotInVain: what comes is returned.
func TestNotInVain(t *testing.T) {
	t.Parallel()
	numbers := make(chan int, 1)
	numbers <- 7
	if got := Receive(t, numbers, "a number"); got != 7 {
		t.Errorf("received %d", got)
	}
	close(numbers)
	if got := Receive(t, numbers, "the end"); got != 0 {
		t.Errorf("received %d of a closed channel", got)
	}
	var group sync.WaitGroup
	group.Go(func() {})
	Group(t, &group, "nothing")
	if got := Call(t, func() string { return "done" }, "the call"); got != "done" {
		t.Errorf("the call returned %q", got)
	}
}

// begin runs f beside the test, also when it ends its goroutine.
func begin(f func()) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	return ended
}
