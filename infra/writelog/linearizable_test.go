package writelog_test

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"netsim/commands"
	"netsim/fault"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// register is the workspace as its clients see it: a name that can be read, set, and
// set on the condition that the workspace has a version.
type register struct {
	version int64
	name    string
}

type operation struct {
	read  bool
	name  string
	match int64 // 0 is no condition
}

type reply struct {
	read    register
	wrote   int64 // the sequence of the fact; 0 when there was nothing to do
	refused bool  // the precondition failed
}

// registerModel is what the workspace would do if every operation happened at
// one instant between its call and its answer.
func registerModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return register{1, "new"} },
		Step: func(state, input, output any) (bool, any) {
			was, in, out := state.(register), input.(operation), output.(reply)
			switch {
			case in.read:
				return out.read == was, was
			case in.match != 0 && in.match != was.version:
				return out.refused, was
			case in.name == was.name:
				return out == reply{}, was
			}
			return out == reply{wrote: was.version + 1}, register{was.version + 1, in.name}
		},
	}
}

// client does operations one after the other, each through a random process, as
// behind a load balancer.
type client struct {
	id        int
	processes []process
	workspace string
	random    *rand.Rand
	seen      int64 // the newest version it knows of
	start     time.Time
}

func (c *client) work(t *testing.T, count int) (history []porcupine.Operation) {
	for range count {
		in := operation{name: strconv.Itoa(c.random.IntN(4))}
		switch c.random.IntN(4) {
		case 0:
			in.read = true
		case 1, 2:
			in.match = c.seen
		}
		p := c.processes[c.random.IntN(len(c.processes))]
		called := time.Since(c.start)
		out, ok := c.do(t, p, in)
		if !ok {
			continue
		}
		history = append(history, porcupine.Operation{
			ClientId: c.id, Input: in, Call: called.Nanoseconds(), Output: out, Return: time.Since(c.start).Nanoseconds(),
		})
	}
	return history
}

// do does one operation. It reports false for one that had no effect, and after an
// error, which fails the test.
func (c *client) do(t *testing.T, p process, in operation) (out reply, ok bool) {
	if in.read {
		_, w := p.load(t, c.workspace)
		c.seen = w.Version
		return reply{read: register{w.Version, w.Name}}, true
	}
	match := commands.Match{Given: in.match != 0, Tags: []string{strconv.FormatInt(in.match, 10)}}
	result, err := p.run(t, c.workspace, "", commands.UpdateWorkspace{ID: c.workspace, Name: in.name, Match: match})
	switch {
	case fault.Is(err, fault.PreconditionFailed):
		return reply{refused: true}, true
	case fault.Is(err, fault.Conflict):
		return reply{}, false // all attempts were overtaken
	case err != nil:
		t.Error(err)
		return reply{}, false
	case result.Event == nil:
		return reply{}, true
	}
	c.seen = result.Event.Sequence
	return reply{wrote: result.Event.Sequence}, true
}

func TestTwoProcessesOnOneStreamAreLinearizable(t *testing.T) {
	t.Parallel()
	const clients, each = 12, 60
	at := testworld.NewServers(t)
	processes := []process{{at.Start(t)}, {at.Start(t)}}
	id := processes[0].create(t, "new")
	start := time.Now()
	histories := make([][]porcupine.Operation, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			c := client{i, processes, id, rand.New(rand.NewPCG(1, uint64(i))), 1, start}
			histories[i] = c.work(t, each)
		})
	}
	testwait.Group(t, &all, "everyone")
	var history []porcupine.Operation
	kinds := map[string]int{}
	for _, h := range histories {
		history = append(history, h...)
		for _, o := range h {
			kinds[kind(o)]++
		}
	}
	t.Logf("%d operations: %v", len(history), kinds)
	for _, needed := range []string{"read", "written", "nothing to do", "refused"} {
		if kinds[needed] == 0 {
			t.Errorf("the history has no operation that was %s", needed)
		}
	}
	if result := porcupine.CheckOperationsTimeout(registerModel(), history, time.Minute); result != porcupine.Ok {
		t.Errorf("the history is %s", result)
	}
	if s, w := processes[1].load(t, id); s.Head.Sequence != int64(1+kinds["written"]) || w.Version != s.Head.Sequence {
		t.Errorf("the stream has %d facts and version %d after %d acknowledged writes", s.Head.Sequence, w.Version, kinds["written"])
	}
}

func kind(o porcupine.Operation) string {
	in, out := o.Input.(operation), o.Output.(reply)
	switch {
	case in.read:
		return "read"
	case out.refused:
		return "refused"
	case out.wrote == 0:
		return "nothing to do"
	}
	return "written"
}
