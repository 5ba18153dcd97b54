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

// binary returns the path of netsim-dev, which is built when its sources have
// changed.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("NETSIM_DEV_BIN"); path != "" {
		// With Stat, Go's test cache notices when the file changes.
		_, err := os.Stat(path)
		return path, err
	}
	root, err := root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".cache", "netsim-dev")
	// Test processes of several packages may build at the same time.
	unlock, err := lockFile(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	build := exec.Command("go", "build", "-C", filepath.Join(root, "cmd", "netsim-dev"), "-buildvcs=false", "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building netsim-dev: %w\n%s", err, out)
	}
	return path, nil
})

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
