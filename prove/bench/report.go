package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// figure is one line of the report.
type figure struct {
	Name   string             `json:"name"`
	Value  float64            `json:"value"`
	Unit   string             `json:"unit"`
	P50    float64            `json:"p50Ms,omitempty"`
	P99    float64            `json:"p99Ms,omitempty"`
	Reach  string             `json:"reach,omitempty"` // the target
	Limits []limit            `json:"limits,omitempty"`
	Peers  []limit            `json:"peers,omitempty"`
	CPU    map[string]float64 `json:"cpuMicrosecondsPerOperation,omitempty"` // by process
	Counts counts             `json:"countsPerOperation,omitempty"`          // of several processes
	// DrainedIn is how many seconds the service needed after the load for the
	// remaining projections, reactions and jobs.
	DrainedIn float64 `json:"drainedInSeconds,omitempty"`
	TimedOut  int     `json:"timedOut,omitempty"` // operations that timed out in the service

	beside []string // names of the figures that become its peers
}

// limit is the highest rate of this machine for a part of the work, or the figure
// of a peer.
type limit struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"` // "" is operations a second
	P50   float64 `json:"p50Ms,omitempty"`
	P99   float64 `json:"p99Ms,omitempty"`
	Ratio float64 `json:"ratio"` // the figure divided by the limit; 0 where they cannot be compared
}

// of makes a figure from a sample.
func of(name string, s sample, reach string) figure {
	return figure{
		Name: name, Value: s.PerSecond, Unit: "/s", P50: milliseconds(s.P50), P99: milliseconds(s.P99), Reach: reach,
		DrainedIn: s.Drained.Seconds(), TimedOut: s.TimedOut,
	}
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
		if limits[i].Unit == "" {
			limits[i].Ratio = ratio(f.Value, limits[i].Value)
		}
	}
	f.Limits = limits
	r.Figures = append(r.Figures, f)
	say("%s: %s%s", f.Name, number(f.Value), f.Unit)
}

// compare gives each figure its peers. It is called once, when everything is
// measured; a peer that this run has not measured is left out.
func (r *report) compare() {
	for i := range r.Figures {
		f := &r.Figures[i]
		for _, peer := range r.Figures {
			if slices.Contains(f.beside, peer.Name) {
				f.Peers = append(f.Peers, limit{peer.Name, peer.Value, peer.Unit, peer.P50, peer.P99, ratio(f.Value, peer.Value)})
			}
		}
	}
}

// ratio is 0 when there is nothing to compare with.
func ratio(value, of float64) float64 {
	if of == 0 {
		return 0
	}
	return value / of
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
