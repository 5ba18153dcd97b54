package writelog_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/internal/linear"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

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
func (c *client) work(t *testing.T, count int, enough <-chan struct{}) (history linear.History) {
	for n := 0; n < count || !closed(enough); n++ {
		in := linear.Operation{Name: strconv.Itoa(c.random.IntN(4))}
		switch c.random.IntN(4) {
		case 0:
			in.Read = true
		case 1, 2:
			in.Match = c.seen
		}
		called := time.Since(c.start)
		out, ok, err := c.do(t, in, fmt.Sprint(c.id, "/", n))
		if err != nil {
			t.Error(err)
		}
		if t.Failed() {
			return history
		}
		if ok {
			history = append(history, linear.Done{Client: c.id, Operation: in, Reply: out, Called: called, Answered: time.Since(c.start)})
		}
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

// do does one operation, and repeats it until its outcome is known or in doubt. ok is
// false for one that had no effect.
func (c *client) do(t *testing.T, in linear.Operation, commandID string) (out linear.Reply, ok bool, err error) {
	if !in.Read {
		return in.Write(c.workspace, func(cmd commands.UpdateWorkspace) (handle.Result, error) {
			p, err := c.alive(t)
			if err != nil {
				return handle.Result{}, err
			}
			result, err := p.run(t, c.workspace, commandID, cmd)
			if err != nil && p.dead.Load() {
				err = fault.Unknown(err)
			}
			if err == nil && result.Event != nil {
				c.seen = result.Event.Sequence
			}
			return result, err
		})
	}
	for {
		p, err := c.alive(t)
		if err != nil {
			return linear.Reply{}, false, err
		}
		_, w, err := p.read(t, c.workspace)
		if err != nil && (p.dead.Load() || fault.Is(err, fault.Unavailable)) { // as from a process that is suspended for long
			continue
		}
		if err != nil {
			return linear.Reply{}, false, err
		}
		c.seen = w.Version
		return linear.Reply{Read: linear.Register{Version: w.Version, Name: w.Name}}, true, nil
	}
}

// alive returns a process that was not killed.
func (c *client) alive(t *testing.T) (*process, error) {
	for {
		if err := t.Context().Err(); err != nil {
			return nil, err
		}
		if p := c.processes[c.random.IntN(len(c.processes))]; !p.dead.Load() {
			return p, nil
		}
	}
}

func TestTwoProcessesOnOneStreamAreLinearizable(t *testing.T) {
	t.Parallel()
	at := testworld.NewServers(t)
	processes := []*process{{World: at.Start(t)}, {World: at.Start(t)}}
	done := make(chan struct{})
	close(done)
	h := contend(t, processes, []string{processes[0].create(t, linear.Initial)}, 12, 60, func() {}, done)
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
		id := processes[0].create(t, linear.Initial)
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
	of        map[string]linear.History
}

// contend has clients work on each workspace, each until it has done so many operations
// and enough is closed, while disturb runs.
func contend(t *testing.T, processes []*process, workspaces []string, clients, each int, disturb func(), enough <-chan struct{}) histories {
	start := time.Now()
	h := histories{processes, map[string]linear.History{}}
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
			k := o.Kind()
			kinds[k]++
			switch k {
			case "written", "repeated":
				facts++
			case "in doubt":
				inDoubt++
			}
		}
		if err := history.Check(testwait.Limit(t) / 2); err != nil {
			t.Errorf("%s: %v", id, err)
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
