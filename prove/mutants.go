package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed mutants/*.patch
var patches embed.FS

// mutant is the service with one bug. A mutant's file has the bug in words, the kinds of
// faults under which it shows, and the change. The product has no code for it.
type mutant struct {
	name, bug string
	faults    []string
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
		m := mutant{name: strings.TrimSuffix(file.Name(), ".patch"), patch: string(text)}
		head, _, _ := strings.Cut(m.patch, "\n--- ")
		bug, faults, ok := strings.Cut(head, "\nFaults: ")
		if !ok {
			return nil, fmt.Errorf("%s has no line with its faults", file.Name())
		}
		m.bug, m.faults = strings.TrimSpace(bug), split(strings.TrimSpace(faults))
		all = append(all, m)
	}
	return all, nil
}

// mutantTime is how long faults happen for a mutant. The campaign ends earlier when it
// has found a violation.
const mutantTime = 45 * time.Second

// runMutants runs a short campaign for each mutant. A mutant that is not caught is an
// error.
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
	var survived []string
	for _, m := range all {
		began := time.Now()
		caught, err := m.run(ctx, o)
		if err != nil {
			return fmt.Errorf("mutant %s: %w", m.name, err)
		}
		if caught == "" {
			survived = append(survived, m.name)
			caught = "SURVIVED"
		}
		fmt.Printf("MUTANT %s (%v): %s\n", m.name, time.Since(began).Round(time.Second), short(caught))
	}
	if len(survived) > 0 {
		return fmt.Errorf("%w: %d of %d mutants survived: %s", errViolated, len(survived), len(all), strings.Join(survived, ", "))
	}
	fmt.Printf("all %d mutants were caught\n", len(all))
	return nil
}

// run returns the first violation that the campaign found, or "".
func (m mutant) run(ctx context.Context, o options) (caught string, err error) {
	dir, err := os.MkdirTemp("", "netsim-mutant-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	if o.overlay, err = m.overlay(ctx, root, dir); err != nil {
		return "", err
	}
	o.duration, o.faults, o.service, o.hunt, o.quiet = mutantTime, m.faults, "", true, true
	o.out = filepath.Join(dir, "report")
	if o.keep {
		o.out = filepath.Join(os.TempDir(), "netsim-mutant-"+m.name)
	}
	r, err := prove(ctx, o)
	if errors.Is(err, errViolated) && len(r.Violations) > 0 {
		return r.Violations[0], nil
	}
	return "", err
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
	return text[:min(len(text), 300)]
}
