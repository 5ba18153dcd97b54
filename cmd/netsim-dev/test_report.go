package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// report collects what go test -json prints.
type report struct {
	meter    string // file with the CPU seconds of packages; see metered
	dearest  int
	began    time.Time
	output   map[string][]string // by package, and by package and test, until it ends
	packages []measured
	tests    []measured
	failures []string // packages and tests, in the order of their ends
}

// measured is how long a package or test took.
type measured struct {
	name    string
	seconds float64
	cpu     float64 // of a package; without the servers that all share
}

func newReport(dearest int) *report {
	return &report{
		meter:   filepath.Join(os.TempDir(), "netsim-meter-"+secret()),
		dearest: dearest, began: time.Now(), output: map[string][]string{},
	}
}

// testEvent is a line of go test -json.
type testEvent struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// read prints what fails as it fails, and a line for each package that passes.
func (r *report) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e testEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Println(lines.Text())
			continue
		}
		r.event(e)
	}
	return lines.Err()
}

func (r *report) event(e testEvent) {
	key := strings.TrimSpace(e.Package + " " + e.Test)
	switch e.Action {
	case "build-output":
		fmt.Print(e.Output)
	case "build-fail":
		r.failures = append(r.failures, e.ImportPath+" (build)")
	case "output":
		r.output[key] = append(r.output[key], e.Output)
	case "pass", "skip", "fail":
		if e.Action == "fail" {
			r.failures = append(r.failures, key)
			fmt.Printf("--- FAIL %s (%.2fs)\n%s", key, e.Elapsed, strings.Join(r.output[key], ""))
		}
		delete(r.output, key)
		if e.Test == "" {
			r.unfinished(e.Package)
		}
		if e.Test != "" {
			if !strings.Contains(e.Test, "/") { // not a subtest
				r.tests = append(r.tests, measured{name: key, seconds: e.Elapsed})
			}
			return
		}
		r.packages = append(r.packages, measured{name: key, seconds: e.Elapsed})
		if e.Action == "pass" {
			fmt.Printf("ok   %s %.1fs\n", e.Package, e.Elapsed)
		}
	}
}

// unfinished prints the output of the tests that were running when their package ended: by a
// panic or by the timeout, which the test that ran last reports.
func (r *report) unfinished(pkg string) {
	for _, key := range slices.Sorted(maps.Keys(r.output)) {
		if strings.HasPrefix(key, pkg+" ") {
			fmt.Printf("--- UNFINISHED %s\n%s", key, strings.Join(r.output[key], ""))
			delete(r.output, key)
		}
	}
}

func (r *report) failed() bool { return len(r.failures) > 0 }

func (r *report) failure() error {
	if !r.failed() {
		return nil
	}
	return fmt.Errorf("%d failed:\n  %s", len(r.failures), strings.Join(r.failures, "\n  "))
}

// print prints the totals, and the packages and tests that took longest.
func (r *report) print(to io.Writer) {
	used, err := readMeter(r.meter)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(to, err)
	}
	for i, p := range r.packages {
		r.packages[i].cpu = used[p.name]
	}
	os.Remove(r.meter)
	table := tabwriter.NewWriter(to, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\nseconds\tCPU seconds\t  dearest packages\n")
	for _, p := range dearest(r.packages, r.dearest) {
		fmt.Fprintf(table, "%.1f\t%.1f\t  %s\n", p.seconds, p.cpu, p.name)
	}
	fmt.Fprintf(table, "\nseconds\t\t  dearest tests, of which several run at the same time\n")
	for _, t := range dearest(r.tests, r.dearest) {
		fmt.Fprintf(table, "%.1f\t\t  %s\n", t.seconds, t.name)
	}
	table.Flush()
	fmt.Fprintf(to, "\n%d packages, %d tests in %s; %s of CPU with building and servers\n",
		len(r.packages), len(r.tests), time.Since(r.began).Round(time.Second), childrenCPU().Round(time.Second))
}

func dearest(all []measured, n int) []measured {
	slices.SortFunc(all, func(a, b measured) int { return int(1000 * (b.seconds - a.seconds)) })
	return all[:min(n, len(all))]
}

// readMeter reads the CPU seconds by package.
func readMeter(file string) (map[string]float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	used := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		dir, seconds, _ := strings.Cut(strings.TrimSpace(line), "\t")
		below, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, err
		}
		if used[path.Join("netsim", below)], err = strconv.ParseFloat(seconds, 64); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return used, nil
}
