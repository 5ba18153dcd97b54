package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"netsim/prove/cluster"
)

// report is what a campaign found. Durations are in nanoseconds in JSON.
type report struct {
	Seed       uint64                    `json:"seed"`
	Duration   time.Duration             `json:"duration"`   // of the faults
	Operations map[string]map[string]int `json:"operations"` // by name and outcome
	Faults     []happened                `json:"faults"`
	ByKind     []byKind                  `json:"faultsByKind"`
	LeftOut    []string                  `json:"leftOut"` // kinds that this machine cannot do, and why

	Accounts  []string `json:"accounts"`
	Records   int64    `json:"records"`
	Facts     int      `json:"facts"`
	Streams   int      `json:"streams"`   // whose histories were checked
	Judged    int      `json:"judged"`    // operations, by streams
	Across    int      `json:"across"`    // operations in the graph of all streams
	Undecided int      `json:"undecided"` // streams that took too long to check

	Resources map[string]int `json:"resources"` // acknowledged, by kind and status at the end
	Failed    []string       `json:"failed"`    // simulations, and why

	FeedEvents  int `json:"feedEvents"`
	FeedResumed int `json:"feedResumed"` // connections
	Objects     int `json:"objects"`     // referenced, and stored
	Orphans     int `json:"orphans"`     // stored, and not referenced
	Lines       int `json:"lines"`       // of costs that were compared with the slow model
	Shared      int `json:"shared"`      // lines whose costs depend on other items until the day is over
	Billed      int `json:"billed"`      // usages that were compared with the billing items

	Leases map[string]int `json:"leases"` // shards that are held, by purpose

	Unflushed cluster.Loss  `json:"unflushed"` // what brokers lost
	LostWAL   int64         `json:"lostWAL"`   // bytes that promoted standbys lacked
	Longest   time.Duration `json:"longest"`   // without an acknowledged write
	Healed    time.Duration `json:"healed"`    // from the end of the last fault until ready
	Ended     []string      `json:"ended"`     // processes that ended by themselves
	Failures  []string      `json:"failures"`  // of tools, which were run again

	Checks     []checked   `json:"checks"`
	Letters    string      `json:"letters"`
	Violations []violation `json:"violations"`
}

// happened is a fault that happened. Times are since the start.
type happened struct {
	fault
	Did  string        `json:"did"` // empty if it was not possible
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
}

// byKind sums up the faults of a kind.
type byKind struct {
	Kind       string        `json:"kind"`
	Count      int           `json:"count"`
	Impossible int           `json:"impossible"`
	Longest    time.Duration `json:"longest"`  // without an acknowledged write while and after it happened
	Recovery   time.Duration `json:"recovery"` // from its end to the first acknowledged write that was sent after it
}

type checked struct {
	Name  string        `json:"name"`
	Found int           `json:"found"`
	Took  time.Duration `json:"took"`
}

// finish computes what follows from the rest.
func (c *campaign) finish() {
	r := &c.report
	r.Seed, r.Operations, r.Violations = c.options.seed, c.tally.counts, c.violations
	writes := slices.Clone(c.tally.writes)
	slices.SortFunc(writes, func(a, b span) int { return int(a.to - b.to) })
	gap := func(from, to time.Duration) (longest time.Duration) {
		before := time.Duration(-1)
		for _, w := range writes {
			if before >= 0 && w.to > from && before < to {
				longest = max(longest, w.to-before)
			}
			before = w.to
		}
		return longest
	}
	r.Longest = gap(0, time.Since(c.began))
	kinds := map[string]*byKind{}
	for _, f := range r.Faults {
		k := kinds[f.Kind]
		if k == nil {
			k = &byKind{Kind: f.Kind}
			kinds[f.Kind] = k
		}
		if f.Did == "" {
			k.Impossible++
			continue
		}
		k.Count++
		k.Longest = max(k.Longest, gap(f.From, f.To+5*time.Second))
		for _, w := range writes {
			if w.from >= f.To {
				k.Recovery = max(k.Recovery, w.to-f.To)
				break
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		r.ByKind = append(r.ByKind, *kinds[name])
	}
	r.LeftOut = leftOut(c.disks != nil, c.cluster.Primary().CanJump())
}

// leftOut names the kinds of faults that this machine cannot do, and why.
func leftOut(mounts, jumps bool) (kinds []string) {
	if !mounts {
		for _, kind := range []string{"disk-full-kafka", "disk-full-postgres", "disk-full-objects"} {
			kinds = append(kinds, kind+": it needs root with the right to mount (CAP_SYS_ADMIN)")
		}
	}
	if !jumps {
		kinds = append(kinds, "clock-jump: it needs libfaketime (Debian: faketime)")
	}
	return kinds
}

func (r *report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "seed %d, %d faults in %v\n\nOPERATION\tOK\tREFUSED\tUNKNOWN\n", r.Seed, len(r.Faults), r.Duration.Round(time.Second))
	var sum [3]int
	for _, name := range slices.Sorted(maps.Keys(r.Operations)) {
		n := r.Operations[name]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", name, n["ok"], n["refused"], n["unknown"])
		sum[0], sum[1], sum[2] = sum[0]+n["ok"], sum[1]+n["refused"], sum[2]+n["unknown"]
	}
	fmt.Fprintf(w, "all\t%d\t%d\t%d\n\nFAULT\tCOUNT\tNOT POSSIBLE\tLONGEST WITHOUT A WRITE\tWRITES AGAIN AFTER\n", sum[0], sum[1], sum[2])
	for _, k := range r.ByKind {
		fmt.Fprintf(w, "%s\t%d\t%d\t%v\t%v\n", k.Kind, k.Count, k.Impossible, k.Longest.Round(10*time.Millisecond), k.Recovery.Round(10*time.Millisecond))
	}
	for _, kind := range r.LeftOut {
		fmt.Fprintf(w, "left out: %s\n", kind)
	}
	fmt.Fprintf(w, "\n%d records, %d of them facts; %d operations on %d streams checked one by one (%d streams undecided), %d across streams\n",
		r.Records, r.Facts, r.Judged, r.Streams, r.Undecided, r.Across)
	fmt.Fprintf(w, "resources at the end: %v\n", r.Resources)
	for _, failed := range r.Failed[:min(len(r.Failed), 10)] {
		fmt.Fprintf(w, "failed %s\n", failed)
	}
	fmt.Fprintf(w, "feeds: %d events over %d connections; objects: %d referenced, %d not; %d usages billed, %d lines of costs\n", r.FeedEvents, r.FeedResumed, r.Objects, r.Orphans, r.Billed, r.Lines)
	fmt.Fprintf(w, "brokers lost %d unflushed records; promoted standbys lacked %d bytes\n", r.Unflushed.Records, r.LostWAL)
	fmt.Fprintf(w, "longest without an acknowledged write: %v; ready %v after the last fault\n\nCHECK\tFOUND\tTOOK\n", r.Longest.Round(10*time.Millisecond), r.Healed.Round(10*time.Millisecond))
	for _, check := range r.Checks {
		fmt.Fprintf(w, "%s\t%d\t%v\n", check.Name, check.Found, check.Took.Round(10*time.Millisecond))
	}
	for _, end := range r.Ended {
		fmt.Fprintf(w, "ended by itself, and restarted: %s\n", end)
	}
	for _, failure := range r.Failures {
		fmt.Fprintf(w, "a tool failed: %s\n", failure)
	}
	for _, v := range r.Violations {
		fmt.Fprintf(w, "\nVIOLATION (%s, after %v): %s\n", v.Check, v.At.Round(time.Second), v.Text)
	}
	return w.Flush()
}

// save writes the report, the history and the logs of all processes.
func (c *campaign) save() error {
	c.report.Violations = c.violations
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	errs := []error{
		writeJSON(filepath.Join(c.out, "report.json"), c.report),
		writeJSON(filepath.Join(c.out, "history.json"), c.records.operations()),
	}
	for _, pattern := range []string{"*.log", "*/*.log"} {
		logs, err := filepath.Glob(filepath.Join(c.dir, pattern))
		errs = append(errs, err)
		for _, path := range logs {
			text, err := os.ReadFile(path)
			errs = append(errs, err, os.WriteFile(filepath.Join(c.out, filepath.Base(filepath.Dir(path))+"-"+filepath.Base(path)), text, 0o644))
		}
	}
	return errors.Join(errs...)
}

func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
