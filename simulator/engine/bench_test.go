package engine_test

import (
	"testing"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
)

func benchmark(b *testing.B, ranks int, routing engine.Routing, p collective.Phase) {
	in := engine.Input{
		Fabric: derived(b, "128x400G", "1:1", ranks), Groups: workload(b, ranks, p),
		Options: engine.Options{Routing: routing},
	}
	b.ReportAllocs()
	var r *engine.Result
	for b.Loop() {
		r = run(b, in, engine.Observer{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.Sends), "ns/transfer")
}

func BenchmarkRingAllReduce1024(b *testing.B) {
	benchmark(b, 1024, engine.ECMP, phase("allReduce", "ring", 64<<20))
}

func BenchmarkRingAllReduce1024Spray(b *testing.B) {
	benchmark(b, 1024, engine.Spray, phase("allReduce", "ring", 64<<20))
}

func BenchmarkRingAllReduce4096(b *testing.B) {
	benchmark(b, 4096, engine.ECMP, phase("allReduce", "ring", 64<<20))
}

func BenchmarkRingAllReduce8192(b *testing.B) {
	benchmark(b, 8192, engine.ECMP, phase("allReduce", "ring", 64<<20))
}

func BenchmarkHalvingDoublingAllReduce1024(b *testing.B) {
	benchmark(b, 1024, engine.ECMP, phase("allReduce", "recursiveHalvingDoubling", 64<<20))
}

func BenchmarkAllToAll512(b *testing.B) {
	benchmark(b, 512, engine.ECMP, phase("allToAll", "interleaved", 64<<20))
}

func BenchmarkAllToAll512Spray(b *testing.B) {
	benchmark(b, 512, engine.Spray, phase("allToAll", "interleaved", 64<<20))
}

func BenchmarkAllToAllSequential512(b *testing.B) {
	benchmark(b, 512, engine.ECMP, phase("allToAll", "sequential", 64<<20))
}
