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

// makeDir makes dir and its parents. New ones are searchable by everyone
// whatever the umask, because PostgreSQL may run below them as another user;
// secrets have files of mode 0600.
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

// lockDir makes dir with the given mode and takes it for this process alone,
// until the returned file is closed or the process dies. None of the servers
// guards itself against a second one on the same data.
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

// remember returns the text kept in the file, which only the owner can read.
// The first time, it keeps what create returns; the caller holds the
// directory's lock.
func remember(file string, create func() string) (string, error) {
	old, err := os.ReadFile(file)
	if err == nil {
		return strings.TrimSpace(string(old)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	text := create()
	// Written beside and renamed, so that a crash leaves no half a secret.
	if err := os.WriteFile(file+".new", []byte(text+"\n"), 0o600); err != nil {
		return "", err
	}
	return text, os.Rename(file+".new", file)
}

// secret is a random text of 130 bits, fit for a password or an id.
func secret() string { return rand.Text() }
