package engine

import (
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/collective"
	"netsim/simulator/topology"
)

// referenceRates computes max-min fair rates by their definition: it raises the rates
// of all flows together and stops each flow when one of its resources is full.
func referenceRates(e *engine) map[int32]int64 {
	rates := map[int32]int64{}
	left := make([]int64, len(e.resources))
	for h := range left {
		left[h] = e.resources[h].rate
	}
	for {
		open := make([]int64, len(e.resources))
		for id := range e.flows {
			if f := &e.flows[id]; f.attached {
				if _, ok := rates[int32(id)]; !ok {
					for _, u := range e.path(int32(id)) {
						open[u.resource]++
					}
				}
			}
		}
		least := -1
		for h := range open {
			if open[h] > 0 && (least < 0 || left[h]/open[h] < left[least]/open[least]) {
				least = h
			}
		}
		if least < 0 {
			return rates
		}
		rate := left[least] / open[least]
		for id := range e.flows {
			f := &e.flows[id]
			if _, ok := rates[int32(id)]; ok || !f.attached {
				continue
			}
			for _, u := range e.path(int32(id)) {
				if int(u.resource) != least {
					continue
				}
				rates[int32(id)] = rate
				for _, v := range e.path(int32(id)) {
					left[v.resource] -= rate
				}
				break
			}
		}
	}
}

// TestMaxMin: after any sequence of starts and ends the incremental rates are those of
// referenceRates, within 1000 bit/s.
func TestMaxMin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := &engine{options: Options{MaxFlows: 1000, NICs: []NIC{{Packet: DefaultPacket()}}}, resources: make([]resource, 12), stride: maxPath}
		for h := range e.resources {
			rate := rapid.Int64Range(1_000_000, 400_000_000_000).Draw(t, "rate")
			e.resources[h].rate = rate
			e.hoppings = append(e.hoppings, hopping{rate: rate})
		}
		links := rapid.SliceOfNDistinct(rapid.Int32Range(0, 11), 1, 6, rapid.ID[int32])
		for range rapid.IntRange(1, 30).Draw(t, "changes") {
			if rapid.Bool().Draw(t, "start") || len(e.queue.heap) == 0 {
				startFlow(e, links.Draw(t, "path"), rapid.Int64Range(1, 1<<30).Draw(t, "bytes"))
			} else {
				step(e)
			}
			// Rates are assigned after all other events of the instant.
			for len(e.queue.heap) > 0 && e.queue.heap[0].time() <= e.now {
				step(e)
			}
			want := referenceRates(e)
			for id, rate := range want {
				f := &e.flows[id]
				if f.drain <= e.now {
					continue // alone and drained: it only waits for its acknowledgement
				}
				// Shares are rounded down one after the other.
				if d := f.rate - rate; d < -1000 || d > 1000 {
					t.Fatalf("flow %d has %d bit/s, want %d", id, f.rate, rate)
				}
			}
		}
	})
}

func startFlow(e *engine, path []int32, bytes int64) {
	n := int32(len(path))
	e.ranks = append(e.ranks[:0], rank{route: route{to: 1, hops: n, steps: n}})
	copy(e.ranks[0].route.path[:], path)
	e.measure(&e.ranks[0].route, bytes, 0)
	e.send(&transfer{to: 1, bytes: bytes})
}

// step handles one event without ranks: an acknowledged flow only ends.
func step(e *engine) {
	time, kind, ev := e.queue.pop()
	e.now = time
	if kind != acked {
		e.handle(kind, ev)
		return
	}
	f := &e.flows[ev.id]
	if f.stamp != ev.stamp {
		return
	}
	if f.attached {
		e.detach(ev.id)
	}
	f.component = alone
	f.stamp++
	e.freeFlows = append(e.freeFlows, ev.id)
}

// TestDeadlock: a run in which ranks wait without any event left fails, and the error
// names the last finished collective.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	d, err := topology.Derive(topology.Constraints{}, 8)
	if err != nil {
		t.Fatal(err)
	}
	fabric, err := topology.Build(d.Layout())
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEngine(Input{Fabric: fabric, Groups: []collective.GroupSpec{{
		Count: 1, GroupSize: 8, Phases: []collective.Phase{{OperationType: collective.AllToAll, Algorithm: collective.Interleaved, DataSize: 1}},
	}}}, Observer{})
	if err != nil {
		t.Fatal(err)
	}
	e.progress.RanksTotal++ // a rank that never finishes
	e.open()
	_, err = e.run(t.Context())
	if want := "deadlock: 1 of 9 ranks wait and no event is left; the last finished collective is allToAll 0 of group 0"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}
