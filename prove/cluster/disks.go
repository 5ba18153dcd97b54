package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Disks are file systems in memory, one for each part that keeps data, which can be
// full. They are mounted in the private mount namespace of this process, so they vanish
// with its last child, however it ends.
type Disks struct {
	Dir  string
	Size int64 // bytes, of each

	mounted []string
}

func (d *Disks) mount(name string) (string, error) {
	dir := filepath.Join(d.Dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := unix.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=755", d.Size)); err != nil {
		return "", fmt.Errorf("mount a file system in memory on %s: %w", dir, err)
	}
	d.mounted = append(d.mounted, dir)
	return dir, nil
}

// PrivateShm gives the namespace shared memory of its own, so that what servers leave
// there when they are killed vanishes too.
func PrivateShm() error { return unix.Mount("none", "/dev/shm", "tmpfs", 0, "size=512m,mode=1777") }

// Unmount removes the file systems and what they hold.
func (d *Disks) Unmount() error {
	var errs []error
	for _, dir := range d.mounted {
		errs = append(errs, unix.Unmount(dir, unix.MNT_DETACH))
	}
	d.mounted = nil
	return errors.Join(errs...)
}

func (d *Disks) ballast(name string) string { return filepath.Join(d.Dir, name, "ballast") }

// Fill leaves a part no space but some bytes, or less if the part writes meanwhile.
func (d *Disks) Fill(name string, left int64) error {
	f, err := os.Create(d.ballast(name))
	if err != nil {
		return err
	}
	// A piece that does not fit any more is halved. A signal interrupts a call, which
	// then has allocated nothing.
	at := int64(0)
	for piece := int64(16 << 20); piece >= int64(os.Getpagesize()) && err == nil; {
		var stat unix.Statfs_t
		if err = unix.Fstatfs(int(f.Fd()), &stat); err != nil {
			break
		}
		if int64(stat.Bavail)*stat.Bsize-left < piece {
			piece /= 2
			continue
		}
		switch err = unix.Fallocate(int(f.Fd()), 0, at, piece); {
		case err == nil:
			at += piece
		case errors.Is(err, unix.ENOSPC):
			piece, err = piece/2, nil
		case errors.Is(err, unix.EINTR):
			err = nil
		}
	}
	return errors.Join(err, f.Close())
}

// Free ends Fill.
func (d *Disks) Free(name string) error {
	if err := os.Remove(d.ballast(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
