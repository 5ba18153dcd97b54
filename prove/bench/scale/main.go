// Command scale runs one large simulation as a worker does, with all its result files,
// and prints the CPU time and the highest memory of the process that it takes.
//
//	go run -C prove ./bench/scale                    every case, each in a process of its own
//	go run -C prove ./bench/scale -case ring-8192    one case
//	go run -C prove ./bench/scale -bare              the engine alone, without results
//
// Result files are written to memory that is dropped; the size is counted. The settings are
// those of a worker: reports of links and beacons of each simulated millisecond, the
// critical path, and 5,000,000 listed transfers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/pprof"
	"syscall"
	"time"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/results"
	"netsim/simulator/topology"
)

// work is one large simulation.
type work struct {
	name                 string
	ranks                int
	operation, algorithm string
	routing              engine.Routing
	transport            engine.Transport
	size                 int64 // bytes
}

var works = []work{
	{"ring-1024", 1024, collective.AllReduce, collective.Ring, engine.ECMP, engine.Lossless, 64 << 20},
	{"ring-8192", 8192, collective.AllReduce, collective.Ring, engine.ECMP, engine.Lossless, 64 << 20},
	{"halving-8192", 8192, collective.AllReduce, collective.RecursiveHalvingDoubling, engine.ECMP, engine.Lossless, 64 << 20},
	{"halving-8192-trimming", 8192, collective.AllReduce, collective.RecursiveHalvingDoubling, engine.ECMP, engine.Trimming, 64 << 20},
	{"halving-65536", 65536, collective.AllReduce, collective.RecursiveHalvingDoubling, engine.ECMP, engine.Lossless, 64 << 20},
	{"halving-65536-sprayed", 65536, collective.AllReduce, collective.RecursiveHalvingDoubling, engine.Spray, engine.Trimming, 64 << 20},
	{"alltoall-1024", 1024, collective.AllToAll, collective.Interleaved, engine.ECMP, engine.Lossless, 64 << 20},
	{"alltoall-1024-sprayed", 1024, collective.AllToAll, collective.Interleaved, engine.Spray, engine.Trimming, 64 << 20},
	{"alltoall-2048", 2048, collective.AllToAll, collective.Interleaved, engine.ECMP, engine.Lossless, 64 << 20},
	{"alltoall-4096", 4096, collective.AllToAll, collective.Interleaved, engine.ECMP, engine.Lossless, 64 << 20},
	{"alltoall-4096-sprayed", 4096, collective.AllToAll, collective.Interleaved, engine.Spray, engine.Trimming, 64 << 20},
}

// options are those of the command.
type options struct {
	only, profile string
	bare          bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	var o options
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.StringVar(&o.only, "case", "", "run this case only, in this process")
	flags.StringVar(&o.profile, "profile", "", "with -case: write a CPU profile to this file")
	flags.BoolVar(&o.bare, "bare", false, "without results")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q: the command takes options only", flags.Arg(0))
	}
	if o.only == "" {
		return all(ctx, out, args)
	}
	for _, w := range works {
		if w.name == o.only {
			return profiled(o.profile, func() error { return w.measure(ctx, out, o.bare) })
		}
	}
	return fmt.Errorf("there is no case %q", o.only)
}

// all runs every case in a process of its own, so that its highest memory is known.
func all(ctx context.Context, out io.Writer, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| case | CPU s | peak MB | transfers | simulated s | results MB |\n|---|---|---|---|---|---|")
	for _, w := range works {
		c := exec.CommandContext(ctx, self, append([]string{"-case", w.name}, args...)...)
		c.Stdout, c.Stderr = out, os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

func profiled(file string, do func() error) (err error) {
	if file == "" {
		return do()
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do()
}

func (w *work) measure(ctx context.Context, out io.Writer, bare bool) error {
	in, err := w.input()
	if err != nil {
		return err
	}
	var written counter
	var r *engine.Result
	before := spent()
	if bare {
		r, err = engine.Run(ctx, in, engine.Observer{})
	} else {
		r, err = record(ctx, in, &written)
	}
	if err == nil && r.End != engine.Finished {
		err = errors.New("the run was stopped")
	}
	if err != nil {
		return err
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return err
	}
	fmt.Fprintf(out, "| %s | %.1f | %.0f | %d | %.6f | %.0f |\n", w.name, (spent() - before).Seconds(),
		float64(u.Maxrss)*1024/1e6, r.Sends, float64(r.Time)/1e12, float64(written)/1e6)
	return nil
}

// record runs the engine with the settings of a worker and writes the result files.
func record(ctx context.Context, in engine.Input, written *counter) (*engine.Result, error) {
	o := &in.Options
	o.Interval, o.Beacon = 1e9, 1e9
	o.MaxReports, o.ProgressEvents, o.CriticalPath = results.MaxReports(in.Fabric), 4096, true
	rec, err := results.New(results.Config{
		Simulation: "scale", Start: time.Unix(0, 0).UTC(), Fabric: in.Fabric, MaxTransfers: 5_000_000,
		Create: func(string) (io.WriteCloser, error) { return written, nil },
	})
	if err != nil {
		return nil, err
	}
	r, err := engine.Run(ctx, in, rec.Observer())
	if err != nil {
		return nil, err
	}
	return r, rec.Close(r)
}

// input returns the engine's input: the phase on the fabric that netsim derives for the
// ranks.
func (w *work) input() (engine.Input, error) {
	d, err := topology.Derive(topology.Constraints{SwitchRadix: "128x400G", SubscriptionRatio: "1:1"}, w.ranks)
	if err != nil {
		return engine.Input{}, err
	}
	fabric, err := topology.Build(d.Layout())
	if err != nil {
		return engine.Input{}, err
	}
	groups, err := collective.Resolve(nil, []collective.GroupSpec{{
		Count: 1, GroupSize: w.ranks, Phases: []collective.Phase{{OperationType: w.operation, Algorithm: w.algorithm, DataSize: w.size}},
	}}, true)
	return engine.Input{Fabric: fabric, Groups: groups, Synchronize: true, Options: engine.Options{Routing: w.routing, Transport: w.transport}}, err
}

// counter drops what is written and counts its bytes.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func (*counter) Close() error { return nil }

// spent returns the CPU time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
