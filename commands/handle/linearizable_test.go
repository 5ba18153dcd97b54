package handle_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/internal/linear"
)

// Even if the log answers late or never, the clients of several processes see one
// workspace that changes step by step.
func TestHandleIsLinearizable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { race(t, seed) })
		})
	}
}

func race(t *testing.T, seed uint64) {
	const clients, each = 8, 20
	processes := newProcesses(t, seed)
	start := time.Now()
	histories := make([]linear.History, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			known := int64(1)
			for n := range each {
				in := linear.Operation{Name: strconv.Itoa(random.IntN(3)), Match: known * random.Int64N(2)}
				called := time.Since(start)
				out, ok, err := in.Write(processes[0].id, func(cmd commands.UpdateWorkspace) (handle.Result, error) {
					return processes[random.IntN(len(processes))].run(handle.Origin{CommandID: fmt.Sprint(i, "/", n)}, cmd)
				})
				if err != nil {
					t.Error(err)
				}
				if !ok {
					continue
				}
				known = max(known, out.Wrote)
				if out.Refused {
					known++ // a guess, so that some conditions hold again
				}
				histories[i] = append(histories[i], linear.Done{Client: i, Operation: in, Reply: out, Called: called, Answered: time.Since(start)})
			}
		})
	}
	all.Wait()
	<-time.After(time.Minute) // processes still learn what became of commands that were repeated elsewhere
	if err := slices.Concat(histories...).Check(0); err != nil {
		t.Error(err)
	}
}

// newProcesses returns three processes on one log that answers late: mostly
// within milliseconds, at times after the handler's timeout. Some records are
// lost on the way.
func newProcesses(t *testing.T, seed uint64) []*process {
	p := newProcess(t)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 1<<32))
	p.log.delay = func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(50) == 0 {
			return 11 * time.Second
		}
		return time.Duration(random.Int64N(int64(5 * time.Millisecond)))
	}
	p.log.losing = func(int64) error {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(50) == 0 {
			return errors.New("connection reset")
		}
		return nil
	}
	return []*process{p, p.another(), p.another()}
}
