// Package calibration fits the latency and the bandwidth of a ring to a log of nccl-tests.
//
// A row of the log says how long a collective of a size took. In a ring of n ranks it takes
//
//	steps · latency + factor · size / bandwidth
//
// with steps = factor · n. The factor is 2(n-1)/n for all-reduce and (n-1)/n for all-gather,
// reduce-scatter and all-to-all. It is the ratio of the bus bandwidth to the algorithm
// bandwidth, so the log says which it is. The fit minimizes the sum of the squared relative
// errors: short and long collectives count alike.
//
// The bandwidth and the latency are those of payload. A link also carries headers and
// acknowledgements, and a step also stores and forwards packets. So the parameters of networks
// are fitted to the log with the engine itself (network.go).
package calibration

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxBytes is the most bytes of a log that Read reads, and maxRows the most rows.
const (
	MaxBytes = 4 << 20
	maxRows  = 10_000
)

// Row is a measurement. Its times are in microseconds.
type Row struct {
	Bytes    int64
	InPlace  bool
	Measured float64
	Fitted   float64
	Residual float64 // percent: how much longer the measured time is than the fitted one

	bus, algorithm float64 // GB/s, as in the log
}

// Log is a log of nccl-tests.
type Log struct {
	Ranks int
	Rows  []Row
}

// Fit is the ring that fits a log best.
type Fit struct {
	Log

	Factor    float64 // of the size, on the busiest link
	Steps     int
	Latency   float64 // us for each step
	Bandwidth float64 // Gb/s of each rank, in each direction
	Median    float64 // percent: of the residuals without their signs
	Worst     float64 // percent: the largest of them
}

// Read reads a log. It returns an error that says what is missing in a text that is none.
func Read(r io.Reader) (l Log, err error) {
	times := []int(nil)
	lines := bufio.NewScanner(io.LimitReader(r, MaxBytes+1))
	for number, read := 1, 0; lines.Scan(); number++ {
		if read += len(lines.Bytes()) + 1; read > MaxBytes {
			return l, fmt.Errorf("the log has more than %d bytes", MaxBytes)
		}
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) > 1 && fields[0] == "#" && fields[1] == "Rank":
			l.Ranks++
		case len(fields) > 2 && fields[0] == "#" && fields[1] == "size":
			times = columnsOf(fields[1:])
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#") || times == nil:
		default:
			if _, err := strconv.ParseInt(fields[0], 10, 64); err != nil {
				continue // a message of NCCL, or of a program that started the test
			}
			if err := l.row(fields, times); err != nil {
				return l, fmt.Errorf("line %d: %w", number, err)
			}
		}
	}
	switch {
	case lines.Err() != nil:
		return l, lines.Err()
	case times == nil:
		return l, errors.New("the log has no header '# size count type … time algbw busbw'")
	case l.Ranks < 2:
		return l, fmt.Errorf("the log names %d ranks in lines '# Rank …', want at least 2", l.Ranks)
	}
	return l, nil
}

// columnsOf returns the positions of the columns time, out of place and in place; algbw and
// busbw follow each.
func columnsOf(header []string) (at []int) {
	for i, name := range header {
		if name == "time" {
			at = append(at, i)
		}
	}
	return at
}

// row adds the measurements of a line.
func (l *Log) row(fields []string, times []int) error {
	size, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || size < 0 {
		return fmt.Errorf("'%.40s' is not a size", fields[0])
	}
	for i, at := range times {
		if at+2 >= len(fields) {
			return fmt.Errorf("%d columns, want at least %d", len(fields), at+3)
		}
		var v [3]float64
		for k := range v {
			if fields[at+k] == "N/A" {
				continue
			}
			if v[k], err = strconv.ParseFloat(fields[at+k], 64); err != nil || !(v[k] >= 0 && v[k] < 1e15) {
				return fmt.Errorf("'%.40s' is not a time in us or a bandwidth in GB/s", fields[at+k])
			}
		}
		if v[0] == 0 || size == 0 {
			continue
		}
		if len(l.Rows) == maxRows {
			return fmt.Errorf("more than %d measurements", maxRows)
		}
		l.Rows = append(l.Rows, Row{Bytes: size, InPlace: i == 1, Measured: v[0], algorithm: v[1], bus: v[2]})
	}
	return nil
}

// Calibrate fits a ring to the log. It returns an error if the log has fewer than two sizes,
// or is of a collective that is not one of the package's.
func Calibrate(l Log) (Fit, error) {
	f := Fit{Log: Log{l.Ranks, slices.Clone(l.Rows)}}
	if n := len(f.sizes()); n < 2 {
		return f, fmt.Errorf("the log has measurements of %d sizes, want at least 2 (nccl-tests -b 8 -e 1G -f 2)", n)
	}
	if err := f.recognize(); err != nil {
		return f, err
	}
	if f.draw(); !(f.Bandwidth > 0 && f.Bandwidth < 1e12) {
		return f, errors.New("the times do not grow with the size: the log has no large messages from which a bandwidth follows")
	}
	return f, nil
}

// sizes returns the sizes of the rows in order.
func (l *Log) sizes() []int64 {
	sizes := make([]int64, len(l.Rows))
	for i, r := range l.Rows {
		sizes[i] = r.Bytes
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// draw finds the line that fits the rows best, and their residuals. It returns the sum of the
// squared relative errors.
func (f *Fit) draw() (sum float64) {
	terms := make([]term, len(f.Rows))
	for i, r := range f.Rows {
		terms[i] = term{float64(f.Steps) / r.Measured, f.Factor * float64(r.Bytes) / r.Measured, 1}
	}
	latency, inverse := fit(terms) // us, us for each byte
	f.Latency, f.Bandwidth = latency, 8/(1000*inverse)
	f.residuals(inverse)
	for _, r := range f.Rows {
		sum += square(r.Fitted/r.Measured - 1)
	}
	return sum
}

// term says that x·a + y·b should be what is wanted.
type term struct{ a, b, want float64 }

// fit returns the x and y with the least sum of squared errors. x is a latency or a delay, so it
// is not negative.
func fit(terms []term) (x, y float64) {
	var aa, ab, bb, aw, bw float64
	for _, t := range terms {
		aa, ab, bb, aw, bw = aa+t.a*t.a, ab+t.a*t.b, bb+t.b*t.b, aw+t.a*t.want, bw+t.b*t.want
	}
	if det := aa*bb - ab*ab; det > 0 {
		x, y = (aw*bb-bw*ab)/det, (bw*aa-aw*ab)/det
	}
	if x < 0 {
		return 0, bw / bb
	}
	return x, y
}

func square(x float64) float64 { return x * x }

// recognize finds the factor from the bandwidths of the largest measurement.
func (f *Fit) recognize() error {
	most := slices.MaxFunc(f.Rows, func(a, b Row) int { return cmp.Compare(a.algorithm, b.algorithm) })
	n := float64(f.Ranks)
	if most.algorithm == 0 {
		return errors.New("every algbw of the log is 0")
	}
	for _, rounds := range []int{2, 1} {
		factor := float64(rounds) * (n - 1) / n
		if math.Abs(most.bus/most.algorithm-factor) <= 0.02*factor {
			f.Factor, f.Steps = factor, rounds*(f.Ranks-1)
			return nil
		}
	}
	return fmt.Errorf("busbw is %.3f times algbw, and with %d ranks that is neither an all-reduce (%.3f) nor an all-gather, reduce-scatter or all-to-all (%.3f)",
		most.bus/most.algorithm, f.Ranks, 2*(n-1)/n, (n-1)/n)
}

func (f *Fit) residuals(inverse float64) {
	all := make([]float64, len(f.Rows))
	for i := range f.Rows {
		r := &f.Rows[i]
		r.Fitted = float64(f.Steps)*f.Latency + f.Factor*float64(r.Bytes)*inverse
		r.Residual = 100 * (r.Measured/r.Fitted - 1)
		all[i] = math.Abs(r.Residual)
	}
	slices.Sort(all)
	f.Median, f.Worst = all[len(all)/2], all[len(all)-1]
}
