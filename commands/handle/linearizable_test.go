package handle_test

import (
	"errors"
	"fmt"
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
type wrote struct {
	sequence int64
	repeated bool
	refused  bool
}

type named struct {
	version int64
	name    string
}

// oneByOne returns the sequential model, in which each write happens at one
// instant between its first call and its answer.
func oneByOne() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return named{1, "new"} },
		Step: func(state, input, output any) (bool, any) {
			was, in, out := state.(named), input.(write), output.(wrote)
			switch {
			case in.match != 0 && in.match != was.version:
				return out == wrote{refused: true}, was
			case in.name == was.name:
				return out == wrote{}, was
			}
			now := named{was.version + 1, in.name}
			return out == wrote{repeated: true} || out == wrote{sequence: now.version}, now
		},
	}
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
				histories[i] = append(histories[i], porcupine.Operation{
					ClientId: i, Input: in, Call: int64(called), Output: out, Return: int64(time.Since(start)),
				})
			}
		})
	}
	all.Wait()
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

// settle runs a command in a random process until its outcome is known. It
// reports false for a command that certainly changed nothing.
func settle(t *testing.T, processes []*process, random *rand.Rand, in write, commandID string) (wrote, bool) {
	match := commands.Match{Given: in.match != 0, Tags: []string{strconv.FormatInt(in.match, 10)}}
	p := processes[random.IntN(len(processes))]
	for {
		result, err := p.run(handle.Origin{CommandID: commandID}, commands.UpdateWorkspace{ID: p.id, Name: in.name, Match: match})
		switch {
		case fault.Is(err, fault.Unavailable):
			continue
		case fault.Is(err, fault.PreconditionFailed):
			return wrote{refused: true}, true
		case fault.Is(err, fault.Conflict):
			return wrote{}, false
		case err != nil:
			t.Error(err)
			return wrote{}, false
		case result.Repeated:
			return wrote{repeated: true}, true
		case result.Event == nil:
			return wrote{}, true
		}
		return wrote{sequence: result.Event.Sequence}, true
	}
}
