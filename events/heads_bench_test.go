package events

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"
)

// BenchmarkReadHeads reads the heads of 100,000 streams into a map, as a reader that
// joins does.
func BenchmarkReadHeads(b *testing.B) {
	const streams = 100_000
	var lines bytes.Buffer
	w := NewHeadsWriter(&lines)
	for i := range streams {
		stream := fmt.Sprintf("sim_%026d", i)
		if err := w.Add(stream, Head{int64(1 + i%9), sha256.Sum256([]byte(stream))}); err != nil {
			b.Fatal(err)
		}
	}
	part := HeadsPart{Family: Simulations, Count: 1}
	part.Streams, part.Sum = w.Sum()
	b.SetBytes(int64(lines.Len()))
	for b.Loop() {
		heads := make(map[string]*Head, streams)
		if err := ReadHeads(bytes.NewReader(lines.Bytes()), part, func(stream string, head Head) { heads[stream] = &head }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/streams, "ns/head")
}
