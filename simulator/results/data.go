package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"netsim/simulator/engine"
)

// The summaries of completions.md 5.7 are computed from the CSV shards. Their memory depends
// on the number of interfaces and metric paths, not on the number of rows. Percentiles come
// from histograms: utilisation to a hundredth of a percent, times to a thousandth of their
// value.

// millionths is a number in units of 10⁻⁶.
type millionths int64

// MarshalJSON writes the number with up to 6 decimals, without trailing zeros.
func (m millionths) MarshalJSON() ([]byte, error) {
	b := appendFixed(nil, int64(m), 6)
	return bytes.TrimRight(bytes.TrimRight(b, "0"), "."), nil
}

// parseFixed reads a number with at most the given decimals, as an integer in units of
// 10^-decimals.
func parseFixed(field []byte, decimals int) (int64, error) {
	whole, part, _ := bytes.Cut(field, []byte("."))
	if len(field) == 0 || len(part) > decimals {
		return 0, fmt.Errorf("'%s' is not a number of %d decimals", field, decimals)
	}
	var v int64
	for i := range len(whole) + decimals {
		digit := byte('0')
		switch {
		case i < len(whole):
			digit = whole[i]
		case i-len(whole) < len(part):
			digit = part[i-len(whole)]
		}
		if digit < '0' || digit > '9' || v > 1<<59 {
			return 0, fmt.Errorf("'%s' is not a number of %d decimals", field, decimals)
		}
		v = 10*v + int64(digit-'0')
	}
	return v, nil
}

// rows reads the shards of one record row by row.
type rows struct {
	lines  *bufio.Scanner
	fields [][]byte
	read   int64 // rows
	err    error
}

// columns positions the reader after the header and finds the named columns.
func (r *rows) columns(shard io.Reader, names ...string) ([]int, error) {
	r.lines = bufio.NewScanner(shard)
	if !r.lines.Scan() {
		return nil, errors.Join(errors.New("a shard without a header"), r.lines.Err())
	}
	positions := make([]int, len(names))
	head := bytes.Split(r.lines.Bytes(), []byte(","))
	for i, name := range names {
		positions[i] = -1
		for at, column := range head {
			if string(column) == name {
				positions[i] = at
			}
		}
		if positions[i] < 0 {
			return nil, fmt.Errorf("a shard without the column %s", name)
		}
	}
	r.fields = make([][]byte, len(head))
	return positions, nil
}

func (r *rows) next() bool {
	if r.err != nil || !r.lines.Scan() {
		return false
	}
	line := r.lines.Bytes()
	for i := range r.fields {
		r.fields[i], line, _ = bytes.Cut(line, []byte(","))
	}
	r.read++
	return true
}

func (r *rows) fixed(column, decimals int) int64 {
	v, err := parseFixed(r.fields[column], decimals)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("row %d: %w", r.read, err)
	}
	return v
}

// end returns the first error.
func (r *rows) end() error { return errors.Join(r.err, r.lines.Err()) }

// writeZstd writes v as zstd-compressed JSON, the same bytes for the same v.
func writeZstd(w io.Writer, v any) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	err = json.NewEncoder(z).Encode(v)
	if e := z.Close(); err == nil {
		err = e
	}
	return err
}

// histogram counts values in bins.
type histogram struct {
	bins  []int64
	count int64
	sum   engine.Sum
	max   int64
}

func (h *histogram) add(bin int, v int64) {
	for len(h.bins) <= bin {
		h.bins = append(h.bins, make([]int64, max(64, len(h.bins)))...)
	}
	h.bins[bin]++
	h.count++
	h.sum.Add(v)
	h.max = max(h.max, v)
}

func (h *histogram) mean() int64 {
	return h.sum.Mean(h.count)
}

// percentile returns the bin that contains the nearest-rank percentile.
func (h *histogram) percentile(thousandths int64) int {
	want := max(1, (h.count*thousandths+999)/1000)
	for bin, n := range h.bins {
		if want -= n; want <= 0 {
			return bin
		}
	}
	return 0
}
