package cluster

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A full disk takes no byte, also when its part writes while it is filled, and a freed one
// does. The test needs root with the right to mount, and otherwise tests that a mount
// namespace is refused.
func TestADiskIsFilledAndFreed(t *testing.T) {
	if os.Getenv("NETSIM_TEST_NAMESPACE") == "" {
		inNamespace(t)
		return
	}
	d := &Disks{Dir: t.TempDir(), Size: 4 << 20}
	dir, err := d.mount("part")
	if err != nil {
		t.Fatal(err)
	}
	write := func() error { return os.WriteFile(filepath.Join(dir, "data"), make([]byte, 64<<10), 0o644) }
	if err := write(); err != nil {
		t.Fatal(err)
	}
	if err := d.Fill("part", 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "more"), make([]byte, 2<<20), 0o644); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("a write to a full disk: %v, want no space", err)
	}
	if err := d.Free("part"); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Errorf("a write to a freed disk: %v", err)
	}
	if err := d.Unmount(); err != nil {
		t.Error(err)
	}
}

// inNamespace runs the test that calls it again, in a mount namespace of its own.
func inNamespace(t *testing.T) {
	t.Helper()
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=1m")
	again.Env = append(os.Environ(), "NETSIM_TEST_NAMESPACE=1")
	again.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := again.CombinedOutput()
	if !mayMount(t) {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a mount namespace without the right to make one: %v, want that it is refused\n%s", err, out)
		}
		return
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// mayMount reports whether this process has the capability CAP_SYS_ADMIN.
func mayMount(t *testing.T) bool {
	t.Helper()
	var held [2]unix.CapUserData // 64 capabilities
	if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &held[0]); err != nil {
		t.Fatal(err)
	}
	return held[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}
