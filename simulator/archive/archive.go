// Package archive reads archives of rank files: tar, plain or compressed with gzip or zstd.
//
// An archive is not trusted. Paths that lead out of it, links and devices, decompression
// bombs and repeated names are refused. Every error about the archive is a Refusal; other
// errors are those of the source or the destination.
//
// Source: completions.md 6.2, many ranks.
package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"

	"netsim/simulator/compressed"
)

// Bounds of what archives unpack to.
const (
	maxUnpacked  = 500_000_000_000 // bytes of a traceset
	maxEntries   = 200_000         // of a traceset
	maxRatio     = 256             // of unpacked to packed bytes; applies to more than 16 MiB unpacked
	maxEntryName = 255             // bytes, as for an uploaded file
)

// Refusal says why an archive cannot be used. Its text is safe to show.
type Refusal struct{ File, Reason string }

// Error implements error.
func (r *Refusal) Error() string { return r.File + ": " + r.Reason }

func refuse(file, format string, args ...any) error {
	return &Refusal{file, fmt.Sprintf(format, args...)}
}

// Archive is the content of a tar file, decompressed.
type Archive struct {
	*tar.Reader

	name  string
	plain *compressed.Reader // the decompressed bytes
	first *tar.Header        // nil after next has returned it
}

// Open opens a file as an archive. It returns nil if the file is not an archive, and an
// error only if reading fails.
func Open(name string, stored io.Reader) (*Archive, error) {
	a := &Archive{name: name}
	var err error
	a.plain, err = compressed.Open(stored, compressed.Limits{Bytes: maxUnpacked, Ratio: maxRatio}, func(reason string) error {
		return refuse(name, "the archive %s", reason)
	})
	if err == nil {
		a.Reader = tar.NewReader(a.plain)
		a.first, err = a.Reader.Next()
	}
	switch {
	case a.plain.Stored.Err != nil:
		return nil, a.plain.Stored.Err
	case err != nil:
		return nil, nil //nolint:nilerr,nilnil // it is another kind of file
	}
	return a, nil
}

// next returns the next entry, or io.EOF after the whole file has been read, including a
// checksum at its end.
func (a *Archive) next() (*tar.Header, error) {
	if h := a.first; h != nil {
		a.first = nil
		return h, nil
	}
	h, err := a.Reader.Next()
	if !errors.Is(err, io.EOF) {
		return h, a.failure(err)
	}
	if _, err := io.Copy(io.Discard, a.plain); err != nil {
		return nil, a.failure(err)
	}
	return nil, io.EOF
}

// failure turns faults of the archive into a Refusal. Other errors are those of its source.
func (a *Archive) failure(err error) error {
	known := new(Refusal)
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case a.plain.Stored.Err != nil:
		return fmt.Errorf("read %s: %w", a.name, a.plain.Stored.Err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(a.name, "the archive ends in the middle")
	default:
		return refuse(a.name, "the archive cannot be read: %s", err.Error())
	}
}
