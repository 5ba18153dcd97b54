package collective_test

import (
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/collective"
)

// TestPlanBytes: rank 0 sends as often and as much as the algorithm's closed
// form says.
func TestPlanBytes(t *testing.T) {
	t.Parallel()
	const n, size = 8, 1000 // C = 125
	for _, c := range []struct {
		operation, algorithm string
		steps                int
		bytes                int64
	}{
		{"allReduce", "ring", 14, 14 * 125},
		{"allReduce", "recursiveHalvingDoubling", 6, 2 * (500 + 250 + 125)},
		{"reduceScatter", "ring", 7, 7 * 125},
		{"reduceScatter", "halving", 3, 500 + 250 + 125},
		{"allGather", "ring", 7, 7 * 1000},
		{"allToAll", "sequential", 7, 7 * 125},
		{"allToAll", "interleaved", 7, 7 * 125},
		{"broadcast", "interleaved", 7, 7 * 1000},
		{"scatter", "direct", 7, 7 * 125},
	} {
		p := collective.NewPlan(phase(c.operation, c.algorithm, size), n)
		var bytes int64
		for s := range p.Sends(0) {
			_, b := p.Send(0, s)
			bytes += b
		}
		if p.Sends(0) != c.steps || bytes != c.bytes {
			t.Errorf("%s %s: %d sends of %d bytes, want %d of %d", c.operation, c.algorithm, p.Sends(0), bytes, c.steps, c.bytes)
		}
	}
}

// TestPlanSymmetry: no rank sends to itself, and each rank receives as many
// transfers as it expects.
func TestPlanSymmetry(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.SampledFrom(collective.Matrix()).Draw(t, "operation")
		algorithm := rapid.SampledFrom(entry.AllowedAlgorithms).Draw(t, "algorithm")
		n := rapid.IntRange(1, 40).Draw(t, "n")
		if algorithm == collective.Halving || algorithm == collective.RecursiveHalvingDoubling {
			n = 1 << rapid.IntRange(0, 6).Draw(t, "log")
		}
		p := collective.NewPlan(phase(entry.OperationType, algorithm, rapid.Int64Range(1, 1<<40).Draw(t, "size")), n)
		received := make([]int, n)
		var transfers int64
		for rank := range n {
			for step := range p.Sends(rank) {
				to, bytes := p.Send(rank, step)
				if to == rank || to < 0 || to >= n || bytes < 1 {
					t.Fatalf("rank %d step %d sends %d bytes to %d", rank, step, bytes, to)
				}
				received[to]++
				transfers++
			}
		}
		for rank := range n {
			if received[rank] != p.Receives(rank) {
				t.Fatalf("%d transfers go to rank %d, which expects %d", received[rank], rank, p.Receives(rank))
			}
		}
		if transfers != p.Transfers() {
			t.Fatalf("%d transfers, want %d", transfers, p.Transfers())
		}
	})
}

func TestPlanIdeal(t *testing.T) {
	t.Parallel()
	const rate = 400_000_000_000
	for _, c := range []struct {
		operation, algorithm string
		want                 int64
	}{
		{"allReduce", "ring", 2 * 800_000 * 7 / 8 * 20}, // 20 ps per byte
		{"allGather", "ring", 800_000 * 7 * 20},
		{"allToAll", "interleaved", 800_000 * 7 / 8 * 20},
		{"broadcast", "interleaved", 800_000 * 7 * 20},
	} {
		p := collective.NewPlan(phase(c.operation, c.algorithm, 800_000), 8)
		if got := p.Ideal(rate); got != c.want {
			t.Errorf("%s: ideal time %d ps, want %d", c.operation, got, c.want)
		}
	}
}
