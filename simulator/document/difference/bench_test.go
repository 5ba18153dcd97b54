package difference_test

import (
	"fmt"
	"strings"
	"testing"

	"netsim/simulator/document/difference"
)

// BenchmarkOf compares documents of 4 MiB, the largest size that is stored.
func BenchmarkOf(b *testing.B) {
	document := func(uplinks func(i int) int) []byte {
		var out strings.Builder
		out.WriteString(`{"components":[`)
		for i := 0; out.Len() < 4<<20; i++ {
			if i > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out, `{"type":"switch","name":"n%d","components":[],"typedParameters":{"NumUpLinks":{"type":"uint","value":%d},"A":{"B":{"type":"datarate","unit":"Gbps","value":400}}}}`, i, uplinks(i))
		}
		out.WriteString(`]}`)
		return []byte(out.String())
	}
	one := func(i int) int {
		if i == 9000 {
			return 32
		}
		return 64
	}
	from := document(func(int) int { return 64 })
	for name, to := range map[string][]byte{
		"nothing":    from,
		"one":        document(one),
		"everything": document(func(int) int { return 32 }),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d, err := difference.Of(from, to)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(d.Patch)), "operations")
			}
		})
	}
}
