package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"netsim/internal/teststack/kafka"
)

// programs are what a campaign runs.
type programs struct{ root, service, dev, jars string }

// prepare builds the service, with the overlay if there is one, and finds the servers.
func prepare(ctx context.Context, dir string, o options) (p programs, err error) {
	if p.root, err = moduleRoot(ctx); err != nil {
		return p, err
	}
	if p.service = o.service; p.service == "" {
		p.service = filepath.Join(dir, "netsim")
		if err := o.build(ctx, p); err != nil {
			return p, err
		}
	}
	if p.dev = os.Getenv("NETSIM_DEV_BIN"); p.dev == "" {
		p.dev = filepath.Join(p.root, "bin", "netsim-dev")
	}
	if _, err := os.Stat(p.dev); err != nil {
		return p, errors.New("netsim-dev is missing: run 'make netsim-dev', or set NETSIM_DEV_BIN")
	}
	p.jars, err = kafka.Jars(p.root)
	return p, err
}

// build builds the service.
func (o options) build(ctx context.Context, p programs) error {
	args := []string{"build", "-o", p.service}
	if o.race {
		args = append(args, "-race")
	}
	if o.overlay != "" {
		args = append(args, "-overlay", o.overlay)
	}
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/netsim")...)
	build.Dir = p.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the service: %w\n%s", err, out)
	}
	return nil
}

// moduleRoot returns the directory of the module that this runs in.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "netsim").Output()
	if err != nil {
		return "", fmt.Errorf("prove runs inside its module: go list -m: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
