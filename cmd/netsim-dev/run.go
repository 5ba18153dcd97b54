package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The defaults of NETSIM_HTTP and NETSIM_DATA.
const (
	defaultHTTP = "127.0.0.1:8080"
	defaultData = ".netsim"
)

// run starts every part on disk and the service as a child, prints a banner when
// the service is ready, and ends them all in order on SIGINT or SIGTERM. It returns
// an error when a part or the service does not start or ends by itself. However
// this process dies, the kernel ends its children.
func run(args []string) (err error) {
	parent := os.Getppid()
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	binary := flags.String("service", cmp.Or(os.Getenv("NETSIM_BIN"), siblingProgram("netsim")), "the service's program")
	noSync := flags.Bool("no-sync", false, "do not fsync the log: survives kill -9 but not a power cut")
	withParent := flags.Bool("end-with-parent", false, "end when the parent process ends")
	jars := flags.String("jars", "", "directory of Apache Kafka's jars: run it in place of the embedded broker")
	if err := flags.Parse(args); err != nil {
		return flag.ErrHelp
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q: run takes options only", flags.Arg(0))
	}
	if *withParent {
		if err := endWithParent(parent); err != nil {
			return err
		}
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGINT, syscall.SIGTERM)

	s, err := newService(*binary)
	if err != nil {
		return err
	}
	lock, err := lockDir(s.data, 0o755)
	if err != nil {
		return err
	}
	defer lock.Close()
	// Check the address now, because a first start may take minutes.
	if err := checkFree(s.http); err != nil {
		return fmt.Errorf("%w; stop it, or choose another with NETSIM_HTTP", err)
	}
	names := slices.Clone(allParts)
	if *jars != "" {
		names[0], s.broker = "kafka", "kafka"
		if *jars, err = filepath.Abs(*jars); err != nil { // Kafka runs in its own directory
			return err
		}
	}
	parts, err := startParts(options{data: s.data, listen: "127.0.0.1:0", sync: !*noSync, jars: *jars, connections: defaultConnections}, names...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parts.stop()) }()
	if err := s.start(parts.endpoints()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()

	ready := make(chan error, 1)
	go func() { ready <- s.ready() }()
	for {
		select {
		case err := <-ready:
			if err != nil {
				return err
			}
			fmt.Print(s.banner(parts.endpoints()))
		case <-end:
			signal.Stop(end) // a second Ctrl-C ends this process at once, and the kernel ends its children
			return nil
		case err := <-parts.ended:
			return err
		case <-s.child.ended:
			return s.ended()
		}
	}
}

// siblingProgram returns the path of a program in this program's directory.
func siblingProgram(name string) string {
	self, err := os.Executable()
	if err != nil {
		return name
	}
	return filepath.Join(filepath.Dir(self), name)
}

// endWithParent has the kernel send this process SIGTERM when its parent dies:
// "make run" ends with make, even when make is killed with SIGKILL. It returns an error if
// the parent has died already: another process is the parent then, and no signal comes.
func endWithParent(parent int) error {
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal belongs to this thread, which must not end
		failed <- unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0)
		select {}
	}()
	if err := <-failed; err != nil {
		return err
	}
	if os.Getppid() != parent {
		return errors.New("the parent process has ended")
	}
	return nil
}

// listenAddress reads NETSIM_HTTP or NETSIM_OPS, which is host:port or an http URL.
// Port 0 becomes a free port.
func listenAddress(name, standard string) (string, error) {
	addr := os.Getenv(name)
	if addr == "" {
		addr = standard
	}
	addr = strings.TrimSuffix(strings.TrimPrefix(addr, "http://"), "/")
	if strings.HasSuffix(addr, ":0") {
		return address(addr)
	}
	if portOf(addr) == 0 {
		return "", fmt.Errorf("%s is %q: it must be host:port, such as %s", name, addr, defaultHTTP)
	}
	return addr, nil
}
