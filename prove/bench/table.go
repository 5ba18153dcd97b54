package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// print writes the figures, then their CPU time, and then what was counted, as tables in
// Markdown.
func (r *report) print(out io.Writer) error {
	kind := ""
	if r.Quick {
		kind = ", quick: too short for fair figures"
	}
	commit := r.Commit
	if r.Changed {
		commit += " with changes"
	}
	fmt.Fprintf(out, "netsim on %d cores, %s, commit %s, %s%s\n\n", r.Cores, r.Go, commit, r.At.Format(time.RFC3339), kind)
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	heading(w, "figure", "measured", "to reach", "peers and limits of the same run")
	for _, f := range r.Figures {
		beside := append(append([]limit(nil), f.Peers...), f.Limits...)
		cells := []string{f.Name, f.measured(), f.Reach}
		for _, l := range beside {
			row(w, append(cells, l.String())...)
			cells = []string{"", "", ""}
		}
		if len(beside) == 0 {
			row(w, append(cells, "")...)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	heading(w, "CPU per operation, µs", "service or peer", "broker", "PostgreSQL", "clients")
	for _, f := range r.Figures {
		if len(f.CPU) > 0 {
			row(w, f.Name, micros(f, "service"), micros(f, "broker"), micros(f, "postgres"), micros(f, "clients"))
		}
	}
	if err := w.Flush(); err != nil || !slices.ContainsFunc(r.Figures, figure.counted) {
		return err
	}
	fmt.Fprintln(out)
	names := []string{"counts per operation"}
	for _, column := range counted {
		names = append(names, column.name)
	}
	heading(w, append(names, "records a batch")...)
	for _, f := range r.Figures {
		if f.counted() {
			cells := []string{f.Name}
			for _, name := range names[1:] {
				cells = append(cells, fmt.Sprintf("%.3f", f.Counts[name]))
			}
			row(w, append(cells, number(ratio(f.Counts["records judged"], f.Counts["batches"])))...)
		}
	}
	return w.Flush()
}

func (f figure) counted() bool { return len(f.Counts) > 0 }

func row(w io.Writer, cells ...string) { fmt.Fprintf(w, "| %s\t|\n", strings.Join(cells, "\t| ")) }

func heading(w io.Writer, names ...string) {
	row(w, names...)
	fmt.Fprintf(w, "|%s\n", strings.Repeat("---\t|", len(names)))
}

func micros(f figure, process string) string { return number(math.Round(f.CPU[process])) }

// measured formats the value with its percentiles, timeouts and drain time.
func (f figure) measured() string {
	text := number(f.Value) + f.Unit + percentiles(f.P50, f.P99)
	if f.TimedOut > 0 {
		text += ", " + number(float64(f.TimedOut)) + " timed out"
	}
	if f.DrainedIn >= 0.05 {
		text += fmt.Sprintf(", drained in %.1f s", f.DrainedIn)
	}
	return text
}

func (l limit) String() string {
	text := l.Name + ": " + number(l.Value) + cmp.Or(l.Unit, "/s") + percentiles(l.P50, l.P99)
	if l.Ratio > 0 {
		text += fmt.Sprintf(" (ratio %.2g)", l.Ratio)
	}
	return text
}

func percentiles(p50, p99 float64) string {
	if p99 == 0 {
		return ""
	}
	return fmt.Sprintf(", p50 %.2f ms, p99 %.2f ms", p50, p99)
}

// plural writes a count of things.
func plural(count int, thing string) string {
	if count == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "s") {
		thing += "e"
	}
	return number(float64(count)) + " " + thing + "s"
}

// number writes a figure with thousands apart.
func number(v float64) string {
	if v < 100 && v != math.Trunc(v) {
		return fmt.Sprintf("%.1f", v)
	}
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
