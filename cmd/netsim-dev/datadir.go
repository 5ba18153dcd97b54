package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// makeDir makes dir and its parents. Every user can search the new directories,
// whatever the umask, because PostgreSQL may run below them as another user.
// Secrets are in files of mode 0600.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// lockDir makes dir with the given mode and locks it for this process until the
// returned file is closed or the process dies. The servers themselves do not
// prevent a second server on the same data.
func lockDir(dir string, mode os.FileMode) (*os.File, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, mode); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another netsim-dev is using the data directory %s", dir)
	}
	return f, nil
}

// readOrCreate returns the text in the file, which only the owner can read. The
// first call writes the text that create returns. The caller must hold the
// directory's lock.
func readOrCreate(file string, create func() string) (string, error) {
	old, err := os.ReadFile(file)
	if err == nil {
		return strings.TrimSpace(string(old)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	text := create()
	// Write another file and rename it, so that a crash leaves no partial secret.
	if err := os.WriteFile(file+".new", []byte(text+"\n"), 0o600); err != nil {
		return "", err
	}
	return text, os.Rename(file+".new", file)
}

// secret returns a random text of 130 bits, for a password or an id.
func secret() string { return rand.Text() }
