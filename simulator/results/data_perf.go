package results

import (
	"io"
	"math/bits"
)

type perfSummary struct {
	Paths []pathSummary `json:"paths"`
}

type pathSummary struct {
	Path  string      `json:"metricPath"`
	Count int64       `json:"count"`
	Bytes int64       `json:"bytes"`
	Usec  timeSummary `json:"usec"`

	times histogram // of picoseconds, in bins of timeBin
}

type timeSummary struct {
	Mean millionths `json:"mean"`
	P50  millionths `json:"p50"`
	P99  millionths `json:"p99"`
	P999 millionths `json:"p99_9"`
	Max  millionths `json:"max"`
}

// SummarizePerf writes the summary of the per-transfer record as zstd-compressed
// JSON, with paths in the order of their first rows. It returns the number of CSV
// rows that it read.
func SummarizePerf(w io.Writer, shards ...io.Reader) (int64, error) {
	var r rows
	s := perfSummary{Paths: []pathSummary{}}
	index := map[string]int{}
	for _, shard := range shards {
		c, err := r.columns(shard, "metric_path", "perf_metric_usec", "flow_comm_size")
		if err != nil {
			return r.read, err
		}
		for r.next() {
			i, known := index[string(r.fields[c[0]])]
			if !known {
				i = len(s.Paths)
				s.Paths = append(s.Paths, pathSummary{Path: string(r.fields[c[0]])})
				index[s.Paths[i].Path] = i
			}
			p := &s.Paths[i]
			ps := r.fixed(c[1], 6)
			p.times.add(timeBin(ps), ps)
			p.Bytes += r.fixed(c[2], 0)
		}
		if err := r.end(); err != nil {
			return r.read, err
		}
	}
	for i := range s.Paths {
		p := &s.Paths[i]
		at := func(thousandths int64) millionths {
			return millionths(min(binTime(p.times.percentile(thousandths)), p.times.max))
		}
		p.Count = p.times.count
		p.Usec = timeSummary{Mean: millionths(p.times.mean()), P50: at(500), P99: at(990), P999: at(999), Max: millionths(p.times.max)}
	}
	return r.read, writeZstd(w, s)
}

// timeBin returns the bin of a value. Bins are exact below 2¹¹; above that their
// width is at most a 2¹⁰th of the value.
func timeBin(v int64) int {
	shift := max(0, bits.Len64(uint64(v))-11)
	return shift<<10 + int(v>>shift)
}

// binTime returns the largest value of a bin.
func binTime(bin int) int64 {
	shift := max(0, bin>>10-1)
	return (int64(bin-shift<<10)+1)<<shift - 1
}
