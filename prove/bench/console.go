package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// consoles measures the console in Chromium, which draws without a graphics processor, on
// the service of netsim-dev run (console/figures). Needs Node and Chromium.
func (b *bench) consoles(ctx context.Context) error {
	dir := filepath.Join(b.root, "console")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); errors.Is(err, os.ErrNotExist) {
		if _, err := node(ctx, dir, nil, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
			return err
		}
	}
	say("console: a bundle of 10,000 events")
	bundle, figures := filepath.Join(b.dir, "bundle.jsonl"), filepath.Join(b.dir, "console.jsonl")
	if _, err := node(ctx, dir, []string{"NETSIM_BUNDLE=" + bundle}, "npx", "vitest", "run", "src/verify/many.test.ts"); err != nil {
		return err
	}
	weighed, err := node(ctx, dir, nil, "node", "tools/weigh.js", "--total")
	if err != nil {
		return err
	}
	var weight float64
	if err := json.Unmarshal(weighed, &weight); err != nil {
		return fmt.Errorf("the weight of the first load: %w", err)
	}
	b.report.add(figure{Name: "console, first load, gzipped", Value: weight / 1000, Unit: " kB", Reach: "at most 200 kB, aim 160"})
	_, failed := node(ctx, dir, []string{"NETSIM_BUNDLE=" + bundle, "NETSIM_FIGURES=" + figures, "NETSIM_DEV=" + b.binaries.stack, "NETSIM_BIN=" + b.binaries.service}, "npx", "playwright", "test")
	return errors.Join(failed, b.listed(figures)) // those measured before a failure count
}

// listed adds the figures of a file of JSON values to the report.
func (b *bench) listed(path string) error {
	lines, err := os.Open(path)
	if err != nil {
		return err
	}
	defer lines.Close()
	for d := json.NewDecoder(lines); ; {
		var f figure
		if err := d.Decode(&f); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("a figure of the console: %w", err)
		}
		b.report.add(f)
	}
}

// node runs a program of the console's and returns its output.
func node(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", name, err, out, failed.Bytes())
	}
	return out, nil
}
