package focus

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"netsim/projections"
)

// Files says where the files of an export are.
type Files struct {
	Directory string // created if it is missing; files of an earlier export are replaced
	Generator string // version of this program
}

// Report is the result of an export.
type Report struct {
	Contents
	Data     string // path of the dataset
	Metadata string // path of its metadata
}

// Export writes a dataset to a file, as Write does, and its metadata to another one. A
// failed export leaves no dataset.
func Export(ctx context.Context, db projections.Reader, r Request, to Files) (Report, error) {
	if err := r.Check(); err != nil {
		return Report{}, err
	}
	if err := os.MkdirAll(to.Directory, 0o755); err != nil {
		return Report{}, fmt.Errorf("make the directory: %w", err)
	}
	name := "cost-and-usage." + r.Format
	var has Contents
	at, err := to.file(name, func(out io.Writer) (err error) {
		has, err = Write(ctx, db, r, out)
		return err
	})
	if err != nil {
		return Report{}, err
	}
	at.Rows = has.Rows
	columns := Columns()
	metadata := Metadata{
		Schema: []Schema{schemaOf(columns, to.Generator)}, SchemaID: SchemaID(columns), DataLocation: []Location{at},
		StartDate: r.From.Format(time.DateOnly), EndDate: r.To.Format(time.DateOnly), AccountID: r.AccountID, CreditPrice: r.CreditPrice,
	}
	metadata.DataGenerator.DataGenerator = r.Provider
	described := name + ".metadata.json"
	if _, err := to.file(described, func(to io.Writer) error {
		out := json.NewEncoder(to)
		out.SetIndent("", "  ")
		return out.Encode(metadata)
	}); err != nil {
		return Report{}, err
	}
	return Report{has, filepath.Join(to.Directory, name), filepath.Join(to.Directory, described)}, nil
}

// file writes a file, gives it its name when it is complete, and returns its
// description, without the number of rows.
func (f Files) file(name string, write func(io.Writer) error) (at Location, err error) {
	file, err := os.CreateTemp(f.Directory, name+".partial-*")
	if err != nil {
		return at, fmt.Errorf("make %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	sum := &tally{hash: sha256.New(), to: file}
	buffered := bufio.NewWriterSize(sum, 1<<20)
	if err = write(buffered); err != nil {
		return at, fmt.Errorf("write %s: %w", name, err)
	}
	for _, step := range []func() error{
		buffered.Flush, file.Sync, file.Close,
		func() error { return os.Chmod(file.Name(), 0o644) },
		func() error { return os.Rename(file.Name(), filepath.Join(f.Directory, name)) },
	} {
		if err = step(); err != nil {
			return at, fmt.Errorf("write %s: %w", name, err)
		}
	}
	return Location{FilePath: name, Bytes: sum.bytes, SHA256: hex.EncodeToString(sum.hash.Sum(nil))}, nil
}

// tally counts and hashes the bytes that it passes on.
type tally struct {
	hash  hash.Hash
	to    io.Writer
	bytes int64
}

func (t *tally) Write(p []byte) (int, error) {
	n, err := t.to.Write(p)
	t.hash.Write(p[:n])
	t.bytes += int64(n)
	return n, err
}
