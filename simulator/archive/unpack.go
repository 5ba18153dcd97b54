package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"netsim/simulator/chakra"
	"netsim/simulator/compressed"
)

// GroupsFile is the file that names the process groups of a traceset.
const GroupsFile = "comm_groups.json"

// Unpacking unpacks the archives of a traceset.
type Unpacking struct {
	// Put stores a file of size bytes.
	Put func(name string, size int64, content io.Reader) error
	// MaxBytes bounds all files together; 0 is 500 GB.
	MaxBytes int64

	// Ranks has the range of ranks in each archive or single file, by its name.
	Ranks map[string]*Range
	// Warnings are about entries that were left out, at most chakra.MaxFindings.
	Warnings []string

	names   map[string]bool // of the files so far
	entries int
	bytes   int64
}

// Range is a range of ranks, both ends included.
type Range struct{ First, Last int64 }

// Len returns the number of files so far.
func (u *Unpacking) Len() int { return len(u.names) }

// File unpacks a file if it is an archive. It does not open a file with the name of a
// rank's trace.
func (u *Unpacking) File(name string, open func() (io.ReadCloser, error)) (is bool, err error) {
	if _, err := chakra.RankOf(name); err == nil {
		return false, nil
	}
	body, err := open()
	if err != nil {
		return false, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	a, err := Open(name, body)
	if err != nil || a == nil {
		return false, err
	}
	return true, u.Unpack(a)
}

// Unpack unpacks one archive.
func (u *Unpacking) Unpack(a *Archive) error {
	for {
		h, err := a.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if u.entries++; u.entries > maxEntries {
			return refuse(a.name, "there are more than %d entries in the archives", maxEntries)
		}
		if err := u.entry(a, h); err != nil {
			return err
		}
	}
}

// entry unpacks a rank file or the process groups. It skips folders, and warns about other
// files that it skips.
func (u *Unpacking) entry(a *Archive, h *tar.Header) error {
	name := path.Base(h.Name)
	rank, notRank := chakra.RankOf(name)
	switch {
	case strings.HasPrefix(h.Name, "/"), slices.Contains(strings.Split(h.Name, "/"), ".."):
		return refuse(a.name, "entry %.100q leads out of the archive", h.Name)
	case h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	case h.Typeflag != tar.TypeReg:
		return refuse(a.name, "entry %.100q is a link or a device, not a file", h.Name)
	case notRank != nil && name != GroupsFile, !validName(name):
		u.warn("%s: entry %.100q is no rank file and is left out", a.name, h.Name)
		return nil
	case u.names[name]:
		return refuse(a.name, "entry %.100q is there already", h.Name)
	}
	most := u.MaxBytes
	if most == 0 {
		most = maxUnpacked
	}
	if u.bytes += h.Size; u.bytes > most {
		return refuse(a.name, "the archives have more than %d bytes", most)
	}
	content := compressed.Watch(a.Reader)
	err := u.Put(name, h.Size, content)
	if content.Err != nil {
		return a.failure(content.Err)
	}
	if err != nil {
		return err
	}
	u.note(name)
	if notRank == nil {
		u.Hold(a.name, int64(rank))
	}
	return nil
}

func (u *Unpacking) note(name string) {
	if u.names == nil {
		u.names = map[string]bool{}
	}
	u.names[name] = true
}

// Hold records that an archive or a single file has the trace of a rank.
func (u *Unpacking) Hold(file string, rank int64) {
	r := u.Ranks[file]
	if r == nil {
		if u.Ranks == nil {
			u.Ranks = map[string]*Range{}
		}
		r = &Range{rank, rank}
		u.Ranks[file] = r
	}
	r.First, r.Last = min(r.First, rank), max(r.Last, rank)
}

// Beside records a file that was not in an archive. It refuses the file if an archive has a
// file with the same name.
func (u *Unpacking) Beside(name string) error {
	if u.names[name] {
		return refuse(name, "the file is in an archive, too")
	}
	u.note(name)
	return nil
}

func (u *Unpacking) warn(format string, args ...any) {
	if len(u.Warnings) < chakra.MaxFindings {
		u.Warnings = append(u.Warnings, fmt.Sprintf(format, args...))
	}
}

// validName reports whether a name follows the rule for uploaded files (completions.md 6.2).
func validName(name string) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return len(name) <= maxEntryName && !strings.Contains(name, "..") && strings.Trim(name, allowed) == "" && name != "."
}
