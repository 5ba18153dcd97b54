package handle_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/fault"
)

// write sets the name of a workspace. If match is not 0, it is conditional on
// that version. It is repeated under its command id until its outcome is known.
type write struct {
	name  string
	match int64
}

// wrote is the outcome of a write: refused by the condition, nothing to do (all
// zero), or a fact. A repeated command does not return the fact's sequence.
//
// A write in doubt was repeated in another process and had no effect there, while its
// first record may not have been judged yet. That record can still become a fact.
type wrote struct {
	sequence int64
	repeated bool
	refused  bool
	inDoubt  bool
}

type named struct {
	version int64
	name    string
}

// oneByOne returns the sequential model, in which each write happens at one
// instant between its first call and its answer. One in doubt happens at any time
// after its first call, or never.
func oneByOne() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{named{1, "new"}} },
		Step: func(state, input, output any) []any {
			was, in, out := state.(named), input.(write), output.(wrote)
			want, now := wrote{}, was
			switch {
			case in.match != 0 && in.match != was.version:
				want.refused = true
			case in.name != was.name:
				now = named{was.version + 1, in.name}
				want.sequence = now.version
			}
			switch {
			case out.inDoubt:
				return []any{was, now}
			case out == want, out.repeated && want.sequence != 0:
				return []any{now}
			}
			return nil
		},
	}
	return model.ToModel()
}

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
	first := newProcesses(t, seed)
	start := time.Now()
	histories := make([][]porcupine.Operation, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			known := int64(1)
			for n := range each {
				in := write{name: strconv.Itoa(random.IntN(3)), match: known * random.Int64N(2)}
				called := time.Since(start)
				out, ok := settle(t, first, random, in, fmt.Sprint(i, "/", n))
				if !ok {
					continue
				}
				known = max(known, out.sequence)
				if out.refused {
					known++ // a guess, so that some conditions hold again
				}
				answered := time.Since(start)
				if out.inDoubt {
					answered = math.MaxInt64
				}
				histories[i] = append(histories[i], porcupine.Operation{
					ClientId: i, Input: in, Call: int64(called), Output: out, Return: int64(answered),
				})
			}
		})
	}
	all.Wait()
	<-time.After(time.Minute) // processes still learn what became of commands that were repeated elsewhere
	var history []porcupine.Operation
	for _, h := range histories {
		history = append(history, h...)
	}
	if !porcupine.CheckOperations(oneByOne(), history) {
		t.Errorf("a history of %d writes is not linearizable", len(history))
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

// settle runs a command, each time in a random process, until its outcome is known or
// in doubt. It reports false for a command that certainly changed nothing.
func settle(t *testing.T, processes []*process, random *rand.Rand, in write, commandID string) (wrote, bool) {
	match := commands.Match{Given: in.match != 0, Tags: []string{strconv.FormatInt(in.match, 10)}}
	for attempt := 0; ; attempt++ {
		p := processes[random.IntN(len(processes))]
		result, err := p.run(handle.Origin{CommandID: commandID}, commands.UpdateWorkspace{ID: p.id, Name: in.name, Match: match})
		refused, crowded := fault.Is(err, fault.PreconditionFailed), fault.Is(err, fault.Conflict)
		switch {
		case fault.Is(err, fault.Unavailable):
			continue
		case err != nil && !refused && !crowded:
			t.Error(err)
			return wrote{}, false
		case result.Repeated:
			return wrote{repeated: true}, true
		case result.Event != nil:
			return wrote{sequence: result.Event.Sequence}, true
		case attempt > 0:
			return wrote{inDoubt: true}, true
		}
		return wrote{refused: refused}, !crowded
	}
}
