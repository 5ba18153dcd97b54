package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// testOptions are the options of "test".
type testOptions struct {
	race      string // none, shared or all: which packages run with the race detector
	except    string // pattern of packages that are left out
	tags, run string // as of go test
	timeout   time.Duration
	jars      string // directory of Apache Kafka's jars; "" for the embedded broker
	dearest   int    // how many packages and tests the report lists
	parallel  int    // tests of a package that run at the same time
	packages  []string
}

// test runs go test with one set of servers for all packages, prints the output of what
// fails, and at the end what took the most time. Each package runs once: with the race
// detector or without it.
func test(args []string) error {
	o, err := readTestOptions(args)
	if err != nil {
		return err
	}
	plans, err := o.plan()
	if err != nil {
		return err
	}
	servers, err := startTestServers(o.jars)
	if err != nil {
		return err
	}
	report := newReport(o.dearest)
	for _, p := range plans {
		if err = o.runTests(p, servers, report); err != nil {
			break
		}
	}
	err = errors.Join(err, servers.stop())
	report.print(os.Stdout)
	return errors.Join(err, report.failure())
}

func readTestOptions(args []string) (o testOptions, err error) {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.StringVar(&o.race, "race", "none", "packages that run with the race detector: none, shared (where goroutines share memory) or all")
	flags.StringVar(&o.except, "except", "", "pattern of packages that are left out")
	flags.StringVar(&o.tags, "tags", "", "build tags")
	flags.StringVar(&o.run, "run", "", "run only the tests that match")
	flags.DurationVar(&o.timeout, "timeout", 20*time.Minute, "limit of each package")
	flags.StringVar(&o.jars, "jars", "", "directory of Apache Kafka's jars: the tests use it in place of the embedded broker")
	flags.IntVar(&o.dearest, "dearest", 10, "how many packages and tests to list at the end")
	flags.IntVar(&o.parallel, "parallel", min(max(runtime.NumCPU(), 4), 8), "tests of a package that run at the same time")
	if err := flags.Parse(args); err != nil {
		return o, flag.ErrHelp
	}
	if o.packages = flags.Args(); len(o.packages) == 0 {
		o.packages = []string{"./..."}
	}
	if o.race != "none" && o.race != "shared" && o.race != "all" {
		return o, fmt.Errorf("--race is %q: it must be none, shared or all", o.race)
	}
	return o, nil
}

// runTests runs go test for the packages of a plan.
func (o testOptions) runTests(p testPlan, servers *testServers, r *report) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{
		"test", "-json", "-count=1", "-vet=off", // make check vets
		"-timeout", o.timeout.String(), "-parallel", strconv.Itoa(o.parallel), "-p", strconv.Itoa(min(runtime.NumCPU()+1, 8)),
		"-exec", "'" + self + "' metered",
	}
	if p.race {
		args = append(args, "-race")
	}
	for _, flags := range p.gcflags {
		args = append(args, "-gcflags", flags)
	}
	if o.tags != "" {
		args = append(args, "-tags", o.tags)
	}
	if o.run != "" {
		args = append(args, "-run", o.run)
	}
	cmd := exec.Command("go", append(args, p.packages...)...)
	cmd.Env = append(sparing(os.Environ()), servers.environment(), meterFile+"="+r.meter)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := r.read(out)
	if err := cmd.Wait(); err != nil && readErr == nil && !r.failed() {
		return fmt.Errorf("go test: %w", err)
	}
	return readErr
}

// sparing adds to an environment what saves CPU time of the tests, and of compiling and
// linking them, unless it sets these variables. Garbage is collected less often, within
// limits of memory. A process with the race detector ends without sleeping for a second.
// Its shadow memory causes fewer page faults, which interrupt the other cores: it has huge
// pages, and an allocation of up to 16 MiB clears its part. By default an allocation above
// 64 KiB maps new pages.
func sparing(env []string) []string {
	return append([]string{
		"GOGC=400", "GOMEMLIMIT=2GiB",
		"GORACE=atexit_sleep_ms=0 no_huge_pages_for_shadow=0 clear_shadow_mmap_threshold=16777216",
	}, env...)
}

// serversFile names the file with the endpoints of the servers that all packages of a test
// run share. Its directory has the issuer's keys. The package internal/teststack reads it.
const serversFile = "NETSIM_TEST_SERVERS"

// testServers are the servers of a test run, in a process of netsim-dev of their own.
type testServers struct {
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer
}

// startTestServers starts the parts that tests share: the broker in memory and PostgreSQL
// without fsync, or Apache Kafka.
func startTestServers(jars string) (_ *testServers, err error) {
	s := &testServers{}
	if s.dir, err = os.MkdirTemp(memoryDir(), "netsim-test-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(s.dir)
		}
	}()
	if err = os.Chmod(s.dir, 0o755); err != nil { // PostgreSQL may run as another user
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"part", "all", "--data", s.dir, "--no-sync", "--ephemeral", "--connections", "1000"}
	if jars == "" {
		args = append(args, "--memory")
	} else {
		args = append(args, "--jars", jars)
	}
	s.cmd = exec.Command(self, args...)
	s.cmd.Stderr = os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C ends the tests first
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err = s.cmd.Start(); err != nil {
		return nil, err
	}
	var ready json.RawMessage
	if err = json.NewDecoder(out).Decode(&ready); err != nil {
		return nil, errors.Join(fmt.Errorf("the servers of the tests did not start: %w", err), s.stop())
	}
	return s, os.WriteFile(s.file(), ready, 0o600)
}

// memoryDir returns the directory of files in memory if it has room for the servers' data,
// and otherwise "", the directory for temporary files. A new database takes a tenth of the
// time there.
func memoryDir() string {
	const dir, enough = "/dev/shm", 4 << 30
	var at syscall.Statfs_t
	if err := syscall.Statfs(dir, &at); err != nil || int64(at.Bavail)*at.Bsize < enough || unix.Access(dir, unix.W_OK) != nil {
		return ""
	}
	return dir
}

func (s *testServers) file() string        { return filepath.Join(s.dir, "servers.json") }
func (s *testServers) environment() string { return serversFile + "=" + s.file() }

// stop ends the servers, which delete their data.
func (s *testServers) stop() error {
	s.stdin.Close()
	return errors.Join(s.cmd.Wait(), os.RemoveAll(s.dir))
}

// meterFile names the file to which "metered" appends a line for each package.
const meterFile = "NETSIM_TEST_METER"

// metered runs a test binary, as the -exec of go test does, and appends to the meter its
// package, and the CPU seconds that it and its children took.
func metered(args []string) error {
	if len(args) == 0 {
		return errors.New("metered is for go test -exec")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	meter, openErr := os.OpenFile(os.Getenv(meterFile), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if openErr != nil {
		return openErr
	}
	defer meter.Close()
	dir, _ := os.Getwd() // go test runs a binary in the directory of its package
	fmt.Fprintf(meter, "%s\t%.2f\n", dir, childrenCPU().Seconds())
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		os.Exit(exit.ExitCode())
	}
	return err
}

// childrenCPU returns the CPU time of the children that have ended, and of theirs.
func childrenCPU() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// With --race shared, the race detector does not check conversions of unsafe pointers, and
// for packages whose tests have servers it does not watch the simulator, whose runs take
// twenty times as long under it. The simulator is watched in its own tests and in those of
// runs/execution, which runs it. With --race all, everything is checked and watched.
const (
	noCheckptr    = "all=-d=checkptr=0"
	noRaceEngines = "netsim/simulator/...=-race=false"
)

// testPlan is one call of go test.
type testPlan struct {
	race     bool
	gcflags  []string
	packages []string
}

// plan lists the packages, the longest first so that none of them runs
// alone at the end, and splits them by the race detector.
func (o testOptions) plan() ([]testPlan, error) {
	listed, err := o.list(o.packages)
	if err != nil {
		return nil, err
	}
	without := map[string]bool{}
	if o.except != "" {
		left, err := o.list([]string{o.except})
		if err != nil {
			return nil, err
		}
		for _, p := range left {
			without[p.path] = true
		}
	}
	var plain testPlan
	raced, served := testPlan{race: true}, testPlan{race: true}
	if o.race == "shared" {
		raced.gcflags, served.gcflags = []string{noCheckptr}, []string{noCheckptr, noRaceEngines}
	}
	for _, p := range listed {
		raceable := o.race == "all" || o.race == "shared" && (p.shares || p.servers)
		to := &plain
		switch {
		case without[p.path] || p.size == 0:
			continue
		case raceable && p.servers:
			to = &served
		case raceable:
			to = &raced
		}
		to.packages = append(to.packages, p.path)
	}
	var plans []testPlan
	for _, p := range []testPlan{plain, raced, served} {
		if len(p.packages) > 0 {
			plans = append(plans, p)
		}
	}
	if len(plans) == 0 {
		return nil, fmt.Errorf("%s: no package has tests", strings.Join(o.packages, " "))
	}
	return plans, nil
}
