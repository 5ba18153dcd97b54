package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"netsim/fault"
	"netsim/stream/tables"
)

// Verify reads all files of an export and compares them with its manifest. It returns
// what it found: nothing when all is well.
func Verify(ctx context.Context, t Target) (m *Manifest, found []string, err error) {
	if m, err = ReadManifest(ctx, t); err != nil {
		return nil, nil, err
	}
	if !m.Complete {
		found = append(found, "the export is not complete: run its command again")
	}
	names, err := t.Names(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if name != ManifestName && !m.lists(name) {
			found = append(found, name+" is not in the manifest")
		}
	}
	for _, p := range m.Partitions {
		found = append(found, m.gaps(p)...)
	}
	for _, f := range m.Files {
		problem, err := f.compare(ctx, t, m.Format)
		if err != nil {
			return nil, nil, err
		}
		if problem != "" {
			found = append(found, f.Name+" "+problem)
		}
	}
	return m, found, nil
}

// gaps checks that each file of a partition begins where the one before it ends.
func (m *Manifest) gaps(p Partition) (found []string) {
	at := p.From
	for _, f := range m.Files {
		if f.Table != tables.For(p.Family).Name || f.Partition != p.Partition {
			continue
		}
		if f.From != at || f.To > p.To {
			found = append(found, fmt.Sprintf("%s begins at %d, the file before ends at %d", f.Name, f.From, at))
		}
		at = f.To
	}
	return found
}

// compare reads a file, and says how it differs from its entry.
func (f File) compare(ctx context.Context, t Target, format string) (problem string, err error) {
	in, err := t.Open(ctx, f.Name)
	if fault.CodeOf(err) == fault.NotFound {
		return "is missing", nil
	}
	if err != nil {
		return "", err
	}
	defer in.Close() //nolint:errcheck // only read
	local, direct := in.(*os.File)
	var copied io.Writer = io.Discard
	if !direct {
		if local, err = os.CreateTemp("", "netsim-verify-*"); err != nil {
			return "", err
		}
		defer local.Close() //nolint:errcheck // a copy
		if err := os.Remove(local.Name()); err != nil {
			return "", err
		}
		copied = local
	}
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(hash, copied), in)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", f.Name, err)
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); size != f.Bytes || sum != f.SHA256 {
		return fmt.Sprintf("has %d bytes and the SHA-256 %s, the manifest says %d and %s", size, sum, f.Bytes, f.SHA256), nil
	}
	rows, err := rowsOf(format, local, size)
	if err != nil {
		return "cannot be read: " + err.Error(), nil
	}
	if rows != f.Rows {
		return fmt.Sprintf("has %d rows, the manifest says %d", rows, f.Rows), nil
	}
	return "", nil
}
