package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// stray is the residual, in percent, from which on a measurement is not on the line.
const stray = 10

// Misfit says which measurements are not on the line, and between which sizes two lines meet if
// nearly all are on one of these, as after a change of protocol. It is empty for a log that the
// line fits.
func (f *Fit) Misfit() string {
	strays := strays(f.Rows)
	if strays == 0 {
		return ""
	}
	worst := slices.MaxFunc(f.Rows, func(a, b Row) int { return cmp.Compare(math.Abs(a.Residual), math.Abs(b.Residual)) })
	text := fmt.Sprintf("one line does not fit the log: %d of %d measurements are %d %% or more from it, the worst %+.1f %% at %d bytes", strays, len(f.Rows), stray, worst.Residual, worst.Bytes)
	if last, next, left := f.parts(); left <= strays/4 {
		text += fmt.Sprintf("; up to %d bytes and from %d bytes on the times follow two lines, as after a change of protocol: keep the rows of the sizes that you will simulate, and calibrate with these", last, next)
	}
	return text
}

func strays(rows []Row) (n int) {
	for _, r := range rows {
		if math.Abs(r.Residual) >= stray {
			n++
		}
	}
	return n
}

// parts returns the last size of a first line and the first size of a second one that fit the
// log best, and how many measurements are on neither. Each line has at least three sizes.
func (f *Fit) parts() (last, next int64, left int) {
	sizes, least, left := f.sizes(), math.Inf(1), len(f.Rows)
	for i := 3; i+3 <= len(sizes); i++ {
		below, above := *f, *f
		below.Rows, above.Rows = nil, nil
		for _, r := range f.Rows {
			if r.Bytes < sizes[i] {
				below.Rows = append(below.Rows, r)
			} else {
				above.Rows = append(above.Rows, r)
			}
		}
		if errors := below.draw() + above.draw(); errors < least {
			last, next, left, least = sizes[i-1], sizes[i], strays(below.Rows)+strays(above.Rows), errors
		}
	}
	return last, next, left
}
