// Command bench measures netsim on this machine. It prints each figure with its target,
// and with the peers and the physical limits measured in the same run.
//
//	go run ./bench            about 15 minutes
//	go run ./bench -quick     about three minutes, for a first impression
//	go run ./bench -profile D also writes profiles of the service into D
//
// It builds the service and netsim-dev, runs them as processes on loopback with
// data in a temporary directory, puts load on them, and removes everything again.
// The table goes to standard output, and the same figures as JSON to prove/bench/results.
//
// The clients share the cores with the servers that they measure, so they use a small
// HTTP client of their own (client.go). The figure of the empty handler shows the cost
// of this client and of the server's HTTP alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// scale is the size of a run.
type scale struct {
	warm        time.Duration // warm-up before each measurement
	run         time.Duration // duration of each measurement
	limit       time.Duration // duration of each measurement of a limit
	burst       int           // facts appended while the projector is live
	simulations int           // simulations in the list
	items       int           // billing items active on the day of the accrual
	costs       int           // daily costs in the year of the cost summary
	reactions   int           // workspaces in the backlog of reactions
	published   int           // workspaces in the backlog of publishing
	points      int           // points of a study
	clients     []int         // numbers of clients that create workspaces
	idle        time.Duration // duration of the measurement without requests
}

func scaleOf(quick bool) scale {
	s := scale{
		warm: time.Second, run: 5 * time.Second, limit: 2 * time.Second, burst: 100_000, simulations: 1_000_000, items: 1_000_000,
		costs: 10_000_000, reactions: 30_000, published: 500_000, points: 1000, clients: []int{1, 64, 1024}, idle: 20 * time.Second,
	}
	if quick {
		s.warm, s.run, s.limit, s.idle = 200*time.Millisecond, time.Second, 400*time.Millisecond, 2*time.Second
		s.burst, s.simulations, s.items, s.costs, s.reactions, s.published, s.points = 20_000, 50_000, 50_000, 500_000, 3_000, 100_000, 100
	}
	return s
}

// bench is one run.
type bench struct {
	scale
	dir      string // for all temporary files
	root     string // directory of the module
	binaries binaries
	profiles string // directory, "" for none
	report   *report
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		exit(child(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	signal.Ignore(syscall.SIGPIPE) // a closed pipe must not prevent the cleanup
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, out io.Writer, args []string) (err error) {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "netsim-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // root runs PostgreSQL as another user
		return err
	}
	b := &bench{scale: scaleOf(o.quick), dir: dir, profiles: o.profiles, report: newReport(ctx, o.quick)}
	if b.root, err = moduleRoot(ctx); err != nil {
		return err
	}
	say("building")
	if b.binaries, err = build(ctx, b.root, dir); err != nil {
		return err
	}
	parts := []struct {
		name    string
		measure func(context.Context) error
	}{
		{"durable", func(ctx context.Context) error { return b.writes(ctx, true) }},
		{"peers", b.peers},
		{"reactions", b.reactionBacklog},
		{"publishing", b.publishing},
		{"processes", b.several},
		{"feed", b.feeds},
		{"lists", b.lists},
		{"summary", b.summaries},
		{"accrual", b.accrual},
		{"studies", b.studies},
		{"runs", b.runs},
		{"fast", func(ctx context.Context) error { return b.writes(ctx, false) }},
		{"topology", b.topologies},
		{"replay", b.replays},
		{"engine", b.engines},
		{"audit", b.audits},
		{"export", b.exports},
		{"lake", b.lakes},
		{"console", b.consoles},
	}
	var failed error // what was measured before is printed all the same
	for _, part := range parts {
		if !slices.Contains(o.only, part.name) {
			continue
		}
		if err := part.measure(ctx); err != nil {
			failed = fmt.Errorf("%s: %w", part.name, err)
			break
		}
	}
	b.report.compare()
	return errors.Join(failed, b.report.print(out), b.report.save(o.results))
}

// binaries has the paths of the programs that a run starts.
type binaries struct{ service, stack, self string }

// moduleRoot returns the directory of the module that this runs in.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "netsim").Output()
	if err != nil {
		return "", fmt.Errorf("the bench runs inside its module: go list -m: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func build(ctx context.Context, root, dir string) (binaries, error) {
	self, err := os.Executable()
	b := binaries{filepath.Join(dir, "netsim"), filepath.Join(dir, "netsim-dev"), self}
	if err != nil {
		return b, err
	}
	for _, args := range [][]string{
		{"build", "-C", root, "-o", b.service, "./cmd/netsim"},
		{"build", "-C", filepath.Join(root, "cmd", "netsim-dev"), "-o", b.stack, "."},
	} {
		if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
			return b, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return b, nil
}

// say prints a progress message.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
