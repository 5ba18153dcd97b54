package calibration_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/calibration"
)

// head is what nccl-tests print before the rows, for n ranks; older versions have no root, and
// say error for #wrong.
func head(n int, old bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# nThread 1 nGpus %d minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20\n#\n# Using devices\n", n)
	for i := range n {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid  %d on     node device %2d [0x%02x] GPU\n", i, 4000+i, i, i)
	}
	b.WriteString("node:4000:4000 [0] NCCL INFO Bootstrap : Using eth0\n#\n#                       out-of-place                       in-place\n")
	if old {
		b.WriteString("#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n")
	} else {
		b.WriteString("#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n")
	}
	b.WriteString("#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n")
	return b.String()
}

// row prints a row of a collective whose bus bandwidth is factor times its algorithm bandwidth.
func row(size int64, us, factor float64, old bool) string {
	root := "      -1"
	if old {
		root = ""
	}
	rate := float64(size) / us / 1000
	return fmt.Sprintf("%12d %12d     float     sum%s %8.2f %7.2f %7.2f      0 %8.2f %7.2f %7.2f    N/A\n", size, size/4, root, us, rate, rate*factor, us, rate, rate*factor)
}

// TestRecovers: from a log of exact times the fit has the latency and the bandwidth with which
// the log was made, whatever they are, and no residuals beyond the rounding of the log.
func TestRecovers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 64).Draw(rt, "ranks")
		rounds := rapid.IntRange(1, 2).Draw(rt, "rounds")
		latency, gbps := rapid.Float64Range(2, 20).Draw(rt, "latency"), rapid.Float64Range(10, 3200).Draw(rt, "bandwidth")
		old := rapid.Bool().Draw(rt, "old")
		factor, steps := float64(rounds)*float64(n-1)/float64(n), rounds*(n-1)
		text := head(n, old)
		for size := int64(1024); size <= 16<<30; size *= 4 {
			text += row(size, float64(steps)*latency+factor*float64(size)*8/gbps/1000, factor, old)
		}
		l, err := calibration.Read(strings.NewReader(text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.0\n"))
		if err != nil {
			rt.Fatal(err)
		}
		f, err := calibration.Calibrate(l)
		if err != nil {
			rt.Fatal(err)
		}
		if f.Ranks != n || len(f.Rows) != 26 || f.Steps != steps {
			rt.Fatalf("got %d ranks, %d rows and %d steps", f.Ranks, len(f.Rows), f.Steps)
		}
		if math.Abs(f.Latency/latency-1) > 0.01 || math.Abs(f.Bandwidth/gbps-1) > 0.01 || f.Worst > 1 {
			rt.Fatalf("got %.3f us and %.1f Gb/s with a residual of %.2f %%, want %.3f and %.1f", f.Latency, f.Bandwidth, f.Worst, latency, gbps)
		}
	})
}

// TestResiduals: a row that took twice as long has the largest residual, and the fit of the
// others hardly changes.
func TestResiduals(t *testing.T) {
	t.Parallel()
	text := head(8, false)
	for size := int64(1024); size <= 8<<30; size *= 2 {
		us := 14*5 + 1.75*float64(size)*8/400/1000
		if size == 1<<20 {
			us *= 2
		}
		text += row(size, us, 1.75, false)
	}
	l, err := calibration.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := calibration.Calibrate(l)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Rows {
		if outlier := r.Bytes == 1<<20; outlier != (r.Residual > 50) {
			t.Errorf("the residual of %d bytes is %.1f %%", r.Bytes, r.Residual)
		}
	}
	if math.Abs(f.Latency-5) > 0.6 || math.Abs(f.Bandwidth-400) > 20 || f.Median > 8 {
		t.Errorf("got %.2f us and %.0f Gb/s with a median of %.1f %%, want about 5 and 400", f.Latency, f.Bandwidth, f.Median)
	}
}

// TestRefusals: a text that is no log, or a log that says too little, is refused with what is
// missing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	rows := row(1024, 100, 1.75, false) + row(1<<30, 5000, 1.75, false)
	for text, want := range map[string]string{
		"":                                      "no header",
		"hello\n1 2 3\n":                        "no header",
		head(1, false) + rows:                   "names 1 ranks",
		head(8, false):                          "measurements of 0 sizes, want at least 2",
		head(8, false) + row(8, 9, 1.75, false): "measurements of 1 sizes",
		head(4, false) + rows:                   "busbw is 1.750 times algbw, and with 4 ranks that is neither",
		head(8, false) + "8 2 float\n":          "line 17: 3 columns, want at least",
		head(8, false) + "-8 2 float sum -1 1 1 1 0 1 1 1 0\n":                      "'-8' is not a size",
		head(8, false) + "8 2 float sum -1 NaN 1 1 0 1 1 1 0\n":                     "'NaN' is not a time",
		head(8, false) + row(1024, 5000, 1.75, false) + row(1<<20, 10, 1.75, false): "the times do not grow",
		head(8, false) + strings.Repeat("8 2 float sum -1 1 1 1 0 1 1 1 0\n", 5001): "more than 10000 measurements",
		strings.Repeat("# nothing\n", calibration.MaxBytes/10+1):                    "more than 4194304 bytes",
	} {
		l, err := calibration.Read(strings.NewReader(text))
		if err == nil {
			_, err = calibration.Calibrate(l)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %s", text, err, want)
		}
	}
}
