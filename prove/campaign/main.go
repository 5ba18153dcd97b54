// Command prove runs netsim on a cluster like that of a production and breaks it, at
// random and from a seed, under a mixed load. At the end it heals the cluster and
// checks that nothing was lost, doubled or seen in a wrong order (docs/proving.md).
//
//	go run ./prove -for 1h
//	go run ./prove -seed 7 -for 5m -faults postgres-failover,broker-kill
//	go run ./prove -mutants
//
// It exits with 1 when a check found a violation, and with 2 when the campaign itself
// could not be run. The history, the logs of all processes and the seed are then in a
// directory that it names.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	o, err := parseOptions(os.Args[1:])
	if err != nil {
		exit(err)
	}
	if os.Geteuid() == 0 && os.Getenv(namespaced) == "" {
		switch status, err := inNamespace(); {
		case err == nil:
			os.Exit(status)
		case !errors.Is(err, fs.ErrPermission):
			exit(err)
		} // else root has no right to mount, and the report lists what is left out
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, o))
}

// errViolated is returned after violations were printed.
var errViolated = errors.New("the campaign found violations")

func exit(err error) {
	if err == nil {
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "prove:", err)
	if errors.Is(err, errViolated) {
		os.Exit(1)
	}
	os.Exit(2)
}

// namespaced is set in the environment of a process that has a private mount namespace.
const namespaced = "NETSIM_PROVE_NAMESPACE"

// inNamespace runs this program again in a mount namespace of its own, so that the file
// systems that it mounts vanish with it. It returns the exit status, or fs.ErrPermission
// when this process has no right to make a mount namespace.
func inNamespace() (status int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), namespaced+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		signal.Stop(signals)
		return 0, fmt.Errorf("make a mount namespace: %w", err)
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	err = cmd.Wait()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() >= 0 {
		return ended.ExitCode(), nil
	}
	return 0, err
}
