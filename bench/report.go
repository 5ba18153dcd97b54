package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// figure is one line of the report.
type figure struct {
	Name   string             `json:"name"`
	Value  float64            `json:"value"`
	Unit   string             `json:"unit"`
	P50    float64            `json:"p50Ms,omitempty"`
	P99    float64            `json:"p99Ms,omitempty"`
	Reach  string             `json:"reach,omitempty"` // the design's target (section 8)
	Limits []limit            `json:"limits,omitempty"`
	CPU    map[string]float64 `json:"cpuMicrosecondsPerOperation,omitempty"` // by process
	// DrainedIn is how many seconds the service needed after the load for the
	// remaining projections, reactions and jobs.
	DrainedIn float64 `json:"drainedInSeconds,omitempty"`
}

// limit is the highest rate of this machine for a part of the work.
type limit struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Ratio float64 `json:"ratio"` // the figure divided by the limit
}

// of makes a figure from a sample.
func of(name string, s sample, reach string) figure {
	return figure{Name: name, Value: s.PerSecond, Unit: "/s", P50: milliseconds(s.P50), P99: milliseconds(s.P99), Reach: reach, DrainedIn: s.Drained.Seconds()}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

type report struct {
	At      time.Time `json:"at"`
	Quick   bool      `json:"quick"`
	Go      string    `json:"go"`
	Cores   int       `json:"cores"`
	Commit  string    `json:"commit"`  // commit of the source, "unknown" outside a repository
	Changed bool      `json:"changed"` // the source has uncommitted changes
	Figures []figure  `json:"figures"`
}

func newReport(ctx context.Context, quick bool) *report {
	r := &report{At: time.Now().UTC(), Quick: quick, Go: runtime.Version(), Cores: runtime.NumCPU(), Commit: "unknown"}
	// "go run" leaves the commit out of the build information, so git provides it.
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return r
	}
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output()
	r.Commit, r.Changed = strings.TrimSpace(string(commit)), err != nil || len(changes) > 0
	return r
}

// add adds a figure with its limits.
func (r *report) add(f figure, limits ...limit) {
	for i := range limits {
		limits[i].Ratio = f.Value / limits[i].Value
	}
	f.Limits = limits
	r.Figures = append(r.Figures, f)
	say("%s: %s%s", f.Name, number(f.Value), f.Unit)
}

// as returns an earlier figure as a limit with the name, or no limit if the figure was
// not measured in this run.
func (r *report) as(name, figure string) []limit {
	for _, f := range r.Figures {
		if f.Name == figure {
			return []limit{{Name: name, Value: f.Value}}
		}
	}
	return nil
}

// print writes the table.
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
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tmeasured\tp50 ms\tp99 ms\tdrained in s\tto reach\tlimit in the same run\tlimit\tratio\t")
	for _, f := range r.Figures {
		fmt.Fprintf(w, "%s\t%s%s\t%s\t%s\t%s\t%s\t", f.Name, number(f.Value), f.Unit, optional(f.P50), optional(f.P99), optional(f.DrainedIn), f.Reach)
		for i, l := range f.Limits {
			if i > 0 {
				fmt.Fprint(w, "\t\t\t\t\t\t")
			}
			fmt.Fprintf(w, "%s\t%s/s\t%.2f\t\n", l.Name, number(l.Value), l.Ratio)
		}
		if len(f.Limits) == 0 {
			fmt.Fprintln(w, "\t\t\t")
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	processes := []string{"service", "broker", "postgres", "clients"}
	fmt.Fprintln(w, "CPU per operation, µs\t"+strings.Join(processes, "\t")+"\t")
	for _, f := range r.Figures {
		if len(f.CPU) == 0 {
			continue
		}
		fmt.Fprint(w, f.Name)
		for _, process := range processes {
			fmt.Fprintf(w, "\t%.0f", f.CPU[process])
		}
		fmt.Fprintln(w, "\t")
	}
	return w.Flush()
}

// save writes the report as JSON.
func (r *report) save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, r.At.Format("20060102T150405Z")+".json")
	say("figures as JSON: %s", file)
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// plural formats a count of things.
func plural(count int, thing string) string {
	if count == 1 {
		return "1 " + thing
	}
	return number(float64(count)) + " " + thing + "s"
}

// number formats a figure with thousands separators.
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

func optional(ms float64) string {
	if ms == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", ms)
}
