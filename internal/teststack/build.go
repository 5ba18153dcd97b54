package teststack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// root returns the root directory of the repository that the test runs in.
var root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		text, readErr := os.ReadFile(filepath.Join(dir, "go.mod"))
		if readErr == nil && strings.HasPrefix(string(text), "module netsim\n") {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			err = errors.New("the test does not run inside the repository")
		}
		dir = parent
	}
	return "", err
})

// binary returns the path of netsim-dev.
var binary = sync.OnceValues(func() (string, error) { return built("NETSIM_DEV_BIN", "netsim-dev") })

var netsim = sync.OnceValues(func() (string, error) { return built("NETSIM_BIN", "netsim") })

// Netsim returns the path of the program netsim: what NETSIM_BIN names, or what is built
// at the first use.
func Netsim(t testing.TB) string {
	t.Helper()
	path, err := netsim()
	if err != nil {
		t.Fatalf("teststack: %v", err)
	}
	return path
}

// built returns the path of a program of cmd: what the variable names, or else what is
// built when its sources have changed.
func built(variable, name string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		// With Stat, Go's test cache notices when the file changes.
		_, err := os.Stat(path)
		return path, err
	}
	root, err := root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".cache", name)
	// Test processes of several packages may build at the same time.
	unlock, err := lockFile(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	build := exec.Command("go", "build", "-C", filepath.Join(root, "cmd", name), "-buildvcs=false", "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// lockFile locks the file for this process, waiting for others, and returns the
// function that unlocks it.
func lockFile(path string) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return f.Close, nil
}
