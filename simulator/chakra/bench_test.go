package chakra_test

import (
	"bytes"
	"io"
	"testing"

	"netsim/simulator/chakra"
)

func BenchmarkReader(b *testing.B) {
	tests := map[string][]byte{
		"real":  plain(b, testdata(b, "pytorch/pytorch_ddp.0.et.gz")),
		"gzip":  testdata(b, "pytorch/pytorch_ddp.0.et.gz"),
		"small": manyNodes(40_000),
		"JSON":  plain(b, testdata(b, "graph/full_rank_0.chakra.json.gz")),
	}
	for _, name := range []string{"real", "gzip", "small", "JSON"} {
		content := tests[name]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			nodes := 0
			for b.Loop() {
				_, got, err := sum(bytes.NewReader(content))
				if err != nil {
					b.Fatal(err)
				}
				nodes += got.Nodes
			}
			b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
		})
	}
	// The baseline: the bytes are copied but not decoded.
	b.Run("copy", func(b *testing.B) {
		content := tests["real"]
		buffer := make([]byte, 256<<10)
		b.SetBytes(int64(len(content)))
		for b.Loop() {
			if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{bytes.NewReader(content)}, buffer); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// manyNodes returns a trace of n small send nodes, like those of a ring.
func manyNodes(n int) []byte {
	file := []byte(head())
	for i := range uint64(n) {
		record := node(i, chakra.SendNode).bytes(2, []byte("COMM_SEND_NODE")).attribute("comm_dst", 7, 1).
			attribute("comm_tag", 7, i).attribute("comm_size", 9, 1<<17)
		if i > 0 {
			record = record.number(5, i-1)
		}
		file = append(append(file, byte(len(record))), record...)
	}
	return file
}

func BenchmarkInspect(b *testing.B) {
	for name, content := range map[string][]byte{"real": plain(b, testdata(b, "pytorch/pytorch_ddp.0.et.gz")), "small": manyNodes(40_000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := chakra.Inspect([]chakra.File{fileOf("a.0.et", content)}, nil, chakra.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
