package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

//go:embed mutants/*.patch
var patches embed.FS

// mutant is the service with one bug. A mutant's file has the bug in words, the kinds of
// faults under which it shows, perhaps how long they happen and the seed of a schedule that
// shows it, and the change. The product has no code for it.
type mutant struct {
	name, bug string
	faults    []string
	duration  time.Duration // of the faults
	seed      uint64        // 0 for any
	patch     string
}

func mutants() (all []mutant, err error) {
	files, err := patches.ReadDir("mutants")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := patches.ReadFile("mutants/" + file.Name())
		if err != nil {
			return nil, err
		}
		m, err := readMutant(strings.TrimSuffix(file.Name(), ".patch"), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// readMutant reads the file of a mutant.
func readMutant(name, text string) (mutant, error) {
	m := mutant{name: name, patch: text, duration: mutantTime}
	head, _, _ := strings.Cut(text, "\n--- ")
	for line := range strings.Lines(head) {
		line = strings.TrimSpace(line)
		var err error
		if list, ok := strings.CutPrefix(line, "Faults: "); ok {
			m.faults = split(list)
		} else if d, ok := strings.CutPrefix(line, "For: "); ok {
			m.duration, err = time.ParseDuration(d)
		} else if n, ok := strings.CutPrefix(line, "Seed: "); ok {
			m.seed, err = strconv.ParseUint(n, 10, 64)
		} else if m.bug == "" {
			m.bug = line
		}
		if err != nil {
			return m, fmt.Errorf("mutant %s: %w", name, err)
		}
	}
	if m.bug == "" || len(m.faults) == 0 {
		return m, fmt.Errorf("mutant %s has no words or no line with its faults", name)
	}
	return m, nil
}

// mutantTime is how long faults happen for a mutant. The campaign ends earlier when it
// has found a violation.
const mutantTime = 45 * time.Second

// maxCampaigns is how many campaigns a mutant gets, each with another seed: a fault may
// come at an instant at which the bug does not show. How many it took is printed.
const maxCampaigns = 3

// runMutants runs short campaigns for each mutant, until one catches it. A mutant that
// none catches is an error.
func runMutants(ctx context.Context, o options) error {
	all, err := mutants()
	if err != nil {
		return err
	}
	if len(o.mutant) > 0 {
		for _, name := range o.mutant {
			if !slices.ContainsFunc(all, func(m mutant) bool { return m.name == name }) {
				return fmt.Errorf("there is no mutant %s", name)
			}
		}
		all = slices.DeleteFunc(all, func(m mutant) bool { return !slices.Contains(o.mutant, m.name) })
	}
	if o.rotate > 0 {
		random := rand.New(rand.NewPCG(o.seed, 0))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:min(len(all), o.rotate)]
	}
	var results []result
	for _, m := range all {
		began := time.Now()
		r := result{name: m.name}
		for r.campaigns < maxCampaigns && r.err == nil && r.caught == (violation{}) {
			r.caught, r.err = m.run(ctx, o, r.campaigns)
			r.campaigns++
		}
		r.took = time.Since(began)
		results = append(results, r)
		if err := printResults(os.Stderr, results[len(results)-1:]); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := printResults(os.Stdout, results); err != nil {
		return err
	}
	if n := survivors(results); n > 0 {
		return fmt.Errorf("%w: %d of %d mutants survived", errViolated, n, len(all))
	}
	return nil
}

// result says how a mutant was caught. The zero violation means that it survived.
type result struct {
	name      string
	caught    violation
	campaigns int           // the last one caught it
	err       error         // the campaign could not be run
	took      time.Duration // with building the mutant and starting the clusters
}

func survivors(results []result) (n int) {
	for _, r := range results {
		if r.caught == (violation{}) {
			n++
		}
	}
	return n
}

// printResults prints which check caught each mutant, and when.
func printResults(out io.Writer, results []result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MUTANT\tCAUGHT BY\tCAMPAIGNS\tAFTER\tIN ALL\tFIRST VIOLATION")
	for _, r := range results {
		by, after, text := r.caught.Check, r.caught.At.Round(time.Second).String(), short(r.caught.Text)
		if r.caught == (violation{}) {
			by, after, text = "SURVIVED", "", ""
		}
		if r.err != nil {
			by, text = "NOT RUN", short(r.err.Error())
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%v\t%s\n", r.name, by, r.campaigns, after, r.took.Round(time.Second), text)
	}
	fmt.Fprintf(w, "%d of %d mutants were caught\n", len(results)-survivors(results), len(results))
	return w.Flush()
}

// run returns the first violation that a campaign of the mutant found, or none.
func (m mutant) run(ctx context.Context, o options, campaign int) (caught violation, err error) {
	dir, err := os.MkdirTemp("", "netsim-mutant-")
	if err != nil {
		return caught, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := moduleRoot(ctx)
	if err != nil {
		return caught, err
	}
	if o.overlay, err = m.overlay(ctx, root, dir); err != nil {
		return caught, err
	}
	o.duration, o.each, o.writes = m.duration, false, 0
	if m.seed != 0 {
		o.seed = m.seed
	}
	o.seed += uint64(campaign)
	o.faults, o.service, o.hunt, o.quiet = m.faults, "", true, true
	o.out = filepath.Join(dir, "report")
	if o.keep {
		o.out = filepath.Join(os.TempDir(), "netsim-mutant-"+m.name)
	}
	r, err := prove(ctx, o)
	if errors.Is(err, errViolated) && len(r.Violations) > 0 {
		return r.Violations[0], nil
	}
	return caught, err
}

// files are the paths of the files that the mutant changes, from the module's root.
func (m mutant) files() (names []string) {
	for line := range strings.Lines(m.patch) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- a/"); ok {
			names = append(names, name)
		}
	}
	return names
}

// overlay writes the changed files, and the file that tells go build to use them. It
// returns the path of the latter.
func (m mutant) overlay(ctx context.Context, root, dir string) (string, error) {
	replace := map[string]string{}
	for _, name := range m.files() {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return "", err
		}
		copied := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(copied), 0o755), os.WriteFile(copied, text, 0o644)); err != nil {
			return "", err
		}
		replace[filepath.Join(root, name)] = copied
	}
	apply := exec.CommandContext(ctx, "git", "apply", "-")
	apply.Dir, apply.Stdin = dir, strings.NewReader(m.patch)
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)) // dir is in no repository
	if out, err := apply.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the patch %s does not apply any more: %w\n%s", m.name, err, out)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o644)
}

// short returns the beginning of a text on one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), 160)]
}
