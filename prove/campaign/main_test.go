package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netsim/internal/testwait"
)

// Root without the right to mount, as in a container, runs the campaign without full
// disks, and the report names them.
func TestWithoutTheRightToMountFullDisksAreLeftOut(t *testing.T) {
	if os.Getenv(namespaced) != "" {
		return // this is the program in a mount namespace
	}
	if os.Getenv("NETSIM_TEST_WITHOUT_MOUNTS") == "" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=1m")
		again.Env = append(os.Environ(), "NETSIM_TEST_WITHOUT_MOUNTS=1")
		if out, err := withoutMounts(t, again); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if status, err := inNamespace(); !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("a mount namespace without the right to make one: status %d, %v, want that it is refused", status, err)
	}
	if out := leftOut(false, true); len(out) != 3 || !strings.HasPrefix(out[0], "disk-full-") {
		t.Errorf("left out is %q, want the three kinds of full disks", out)
	}
	if out := leftOut(true, true); len(out) > 0 {
		t.Errorf("left out is %q, want nothing", out)
	}
}

// withoutMounts runs a command without the capability CAP_SYS_ADMIN, which a thread takes
// from the programs that it starts.
func withoutMounts(t *testing.T, cmd *exec.Cmd) (out []byte, err error) {
	t.Helper()
	done := make(chan func() ([]byte, error), 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		may, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_ADMIN, 0, 0, 0)
		if err == nil && may == 1 && os.Geteuid() == 0 {
			err = unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0)
		}
		if err != nil {
			done <- func() ([]byte, error) { return nil, err }
			return
		}
		out, err := cmd.CombinedOutput()
		done <- func() ([]byte, error) { return out, err }
	}()
	return testwait.Receive(t, done, "the test without mounts")()
}
