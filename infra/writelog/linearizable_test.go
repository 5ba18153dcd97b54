package writelog_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"netsim/commands"
	"netsim/events"
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

// reply is the outcome of an operation. A write that was repeated after an unknown
// outcome and then had no effect is in doubt: its first record, of a process that was
// killed, may be judged later.
type reply struct {
	read     register
	wrote    int64 // the sequence of the fact; 0 when there was nothing to do
	repeated bool  // an earlier attempt made the fact
	refused  bool  // the precondition failed
	inDoubt  bool
}

// registerModel is what the workspace would do if every operation happened at
// one instant between its call and its answer.
func registerModel() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{register{1, "new"}} },
		Step: func(state, input, output any) []any {
			was, in, out := state.(register), input.(operation), output.(reply)
			want, now := reply{}, was
			switch {
			case in.read:
				want.read = was
			case in.match != 0 && in.match != was.version:
				want.refused = true
			case in.name != was.name:
				now = register{was.version + 1, in.name}
				want.wrote = now.version
			}
			switch {
			case out.inDoubt:
				return []any{was, now}
			case out == want, out.repeated && want.wrote != 0:
				return []any{now}
			}
			return nil
		},
	}
	return model.ToModel()
}

// client does operations one after the other, each attempt through a random process
// that is alive, as behind a load balancer.
type client struct {
	id        int
	processes []*process
	workspace string
	random    *rand.Rand
	seen      int64 // the newest version it knows of
	start     time.Time
}

// work does operations until a number of them is done and enough is closed.
func (c *client) work(t *testing.T, count int, enough <-chan struct{}) (history []porcupine.Operation) {
	for n := 0; n < count || !closed(enough); n++ {
		in := operation{name: strconv.Itoa(c.random.IntN(4))}
		switch c.random.IntN(4) {
		case 0:
			in.read = true
		case 1, 2:
			in.match = c.seen
		}
		called := time.Since(c.start)
		out, ok := c.do(t, in, fmt.Sprint(c.id, "/", n))
		if t.Failed() {
			return history
		}
		if !ok {
			continue
		}
		answered := time.Since(c.start).Nanoseconds()
		if out.inDoubt {
			answered = math.MaxInt64
		}
		history = append(history, porcupine.Operation{
			ClientId: c.id, Input: in, Call: called.Nanoseconds(), Output: out, Return: answered,
		})
	}
	return history
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// do does one operation, and repeats it until its outcome is known or in doubt. It
// reports false for one that had no effect, and after an error, which fails the test.
func (c *client) do(t *testing.T, in operation, commandID string) (out reply, ok bool) {
	match := commands.Match{Given: in.match != 0, Tags: []string{strconv.FormatInt(in.match, 10)}}
	for attempt := 0; t.Context().Err() == nil; {
		p := c.processes[c.random.IntN(len(c.processes))]
		if p.dead.Load() {
			continue
		}
		if in.read {
			_, w, err := p.read(t, c.workspace)
			if err != nil && p.dead.Load() {
				continue
			}
			if err != nil {
				t.Error(err)
				return reply{}, false
			}
			c.seen = w.Version
			return reply{read: register{w.Version, w.Name}}, true
		}
		result, err := p.run(t, c.workspace, commandID, commands.UpdateWorkspace{ID: c.workspace, Name: in.name, Match: match})
		refused, crowded := fault.Is(err, fault.PreconditionFailed), fault.Is(err, fault.Conflict)
		switch {
		case fault.Is(err, fault.Unavailable), err != nil && p.dead.Load():
			attempt++
			continue
		case err != nil && !refused && !crowded:
			t.Error(err)
			return reply{}, false
		case result.Repeated:
			return reply{repeated: true}, true
		case result.Event != nil:
			c.seen = result.Event.Sequence
			return reply{wrote: result.Event.Sequence}, true
		case attempt > 0:
			return reply{inDoubt: true}, true
		}
		return reply{refused: refused}, !crowded // all attempts of a crowded one were overtaken
	}
	return reply{}, false
}

func TestTwoProcessesOnOneStreamAreLinearizable(t *testing.T) {
	t.Parallel()
	at := testworld.NewServers(t)
	processes := []*process{{World: at.Start(t)}, {World: at.Start(t)}}
	done := make(chan struct{})
	close(done)
	h := contend(t, processes, []string{processes[0].create(t, "new")}, 12, 60, func() {}, done)
	h.check(t)
}

// TestThreeProcessesAreLinearizable has three processes share the shards of the log.
// One that projects is suspended until the others have its shards, and goes on. Then
// one is killed. Nobody sees anything but workspaces that change step by step.
func TestThreeProcessesAreLinearizable(t *testing.T) {
	t.Parallel()
	const shards = 4
	at := testworld.NewServers(t)
	at.Log.Partitions = shards
	processes := make([]*process, 3)
	for i := range processes {
		processes[i] = startLeased(t, at, fmt.Sprint("process ", i), shards)
	}
	holders := func(without string) bool {
		var held, by int
		err := processes[0].DB.QueryRow(t.Context(), `
			SELECT count(*), count(DISTINCT holder) FROM facts.leases WHERE expires_at > now() AND holder <> $1`, without).Scan(&held, &by)
		return err == nil && held == shards && (by == len(processes) || without != "")
	}
	testworld.Await(t, func() bool { return holders("") })
	var ids []string
	on := map[int32]bool{}
	for len(on) < shards { // a workspace in every shard
		id := processes[0].create(t, "new")
		if shard := events.PartitionOf(id, shards); !on[shard] {
			on[shard] = true
			ids = append(ids, id)
		}
	}
	enough := make(chan struct{})
	h := contend(t, processes, ids, 4, 30, func() {
		resume := processes[1].session.suspend()
		testworld.Await(t, func() bool { return holders("process 1") })
		resume()
		testworld.Await(t, func() bool { return holders("") })
		processes[2].kill()
		testworld.Await(t, func() bool { return holders("process 2") })
		close(enough)
	}, enough)
	h.check(t)
	if d := rebuilt(t, processes[0].World); len(d) > 0 {
		t.Errorf("the rebuilt read model differs: %+v", d)
	}
}

// histories are what was done to each workspace.
type histories struct {
	processes []*process
	of        map[string][]porcupine.Operation
}

// contend has clients work on each workspace, each until it has done so many operations
// and enough is closed, while disturb runs.
func contend(t *testing.T, processes []*process, workspaces []string, clients, each int, disturb func(), enough <-chan struct{}) histories {
	start := time.Now()
	h := histories{processes, map[string][]porcupine.Operation{}}
	var mu sync.Mutex
	var all sync.WaitGroup
	for n, id := range workspaces {
		for i := range clients {
			all.Go(func() {
				c := client{i, processes, id, rand.New(rand.NewPCG(uint64(n+1), uint64(i))), 1, start}
				done := c.work(t, each, enough)
				mu.Lock()
				defer mu.Unlock()
				h.of[id] = append(h.of[id], done...)
			})
		}
	}
	disturb()
	testwait.Group(t, &all, "everyone")
	return h
}

// check fails the test unless each history is linearizable and has operations of all
// kinds, and every acknowledged write is a fact.
func (h histories) check(t *testing.T) {
	t.Helper()
	kinds := map[string]int{}
	for id, history := range h.of {
		facts := 1
		inDoubt := 0
		for _, o := range history {
			k := kind(o)
			kinds[k]++
			switch k {
			case "written", "repeated":
				facts++
			case "in doubt":
				inDoubt++
			}
		}
		if result := porcupine.CheckOperationsTimeout(registerModel(), history, time.Minute); result != porcupine.Ok {
			t.Errorf("the history of %s is %s", id, result)
		}
		s, w := h.processes[0].load(t, id)
		if n := int(s.Head.Sequence); n < facts || n > facts+inDoubt || w.Version != s.Head.Sequence {
			t.Errorf("%s has %d facts and version %d after %d acknowledged writes and %d in doubt", id, n, w.Version, facts-1, inDoubt)
		}
	}
	t.Logf("operations: %v", kinds)
	for _, needed := range []string{"read", "written", "nothing to do", "refused"} {
		if kinds[needed] == 0 {
			t.Errorf("the history has no operation that was %s", needed)
		}
	}
}

func kind(o porcupine.Operation) string {
	in, out := o.Input.(operation), o.Output.(reply)
	switch {
	case in.read:
		return "read"
	case out.inDoubt:
		return "in doubt"
	case out.repeated:
		return "repeated"
	case out.refused:
		return "refused"
	case out.wrote == 0:
		return "nothing to do"
	}
	return "written"
}
