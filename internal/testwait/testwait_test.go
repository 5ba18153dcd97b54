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

// recorded is a testing.TB that records its failure.
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

// deadlined is a recorded test whose binary has to end soon.
type deadlined struct{ *recorded }

func (deadlined) Deadline() (time.Time, bool) { return time.Now().Add(20 * time.Millisecond), true }

// TestInVain: a wait without result fails the test, names what it waited for, and ends
// before the test binary's deadline.
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
				t.Errorf("the failure is %q, want %q in it", r.said.String(), want)
			}
		})
	}
}

// TestLimit: a wait ends before the deadline of the test binary, also when that is near.
func TestLimit(t *testing.T) {
	t.Parallel()
	if got := Limit(&recorded{TB: t}); got != longest {
		t.Errorf("without a deadline a wait may take %v, want %v", got, longest)
	}
	if got := Limit(deadlined{&recorded{TB: t}}); got <= 0 || got >= 20*time.Millisecond {
		t.Errorf("20 ms before the deadline a wait may take %v, want less", got)
	}
	deadline, set := t.Deadline()
	if left := time.Until(deadline); set && (Limit(t) <= 0 || Limit(t) >= left) {
		t.Errorf("%v before the deadline a wait may take %v, want less", left, Limit(t))
	}
}

// TestNotInVain: a wait returns the value that it waited for.
func TestNotInVain(t *testing.T) {
	t.Parallel()
	numbers := make(chan int, 1)
	numbers <- 7
	if got := Receive(t, numbers, "a number"); got != 7 {
		t.Errorf("received %d, want 7", got)
	}
	close(numbers)
	if got := Receive(t, numbers, "the end"); got != 0 {
		t.Errorf("received %d from a closed channel, want 0", got)
	}
	var group sync.WaitGroup
	group.Go(func() {})
	Group(t, &group, "nothing")
	if got := Call(t, func() string { return "done" }, "the call"); got != "done" {
		t.Errorf("the call returned %q", got)
	}
}

// begin runs f in another goroutine. The channel is closed when f returns or ends its
// goroutine.
func begin(f func()) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	return ended
}
