package execution

import (
	"crypto/sha256"
	"hash"
	"io"
	"os"
	"path"
	"strconv"
)

// Outcome hashes the result files of a run, and stores them if it has a directory.
type Outcome struct {
	Dir   *os.Root
	Files []Result // closed files, in the order in which they were closed

	// MaxBytes limits the total size of the files; 0 is no limit. A write beyond it
	// fails with TooMuch.
	MaxBytes int64
	bytes    int64
	open     []*os.File // files created in Dir
}

// TooMuch is the error of a write beyond Outcome.MaxBytes.
type TooMuch struct{ Bytes int64 }

// Error implements error.
func (t TooMuch) Error() string {
	return "the result files have more than the " + strconv.FormatInt(t.Bytes, 10) + " bytes that are kept"
}

// Create creates a result file. Its name may have folders.
func (o *Outcome) Create(name string) (io.WriteCloser, error) {
	f := &outcomeFile{outcome: o, Result: Result{Name: name}, sum: sha256.New()}
	if o.Dir == nil {
		return f, nil
	}
	if err := o.Dir.MkdirAll(path.Dir(name), 0o755); err != nil {
		return nil, err
	}
	var err error
	f.file, err = o.Dir.Create(name)
	o.open = append(o.open, f.file)
	return f, err
}

// Abandon closes the files that a run has left open.
func (o *Outcome) Abandon() {
	for _, f := range o.open {
		f.Close() //nolint:errcheck // it is already closed, or not needed
	}
	o.open = nil
}

type outcomeFile struct {
	Result

	outcome *Outcome
	sum     hash.Hash
	file    *os.File // nil if the content is not stored
}

// Write implements io.Writer.
func (f *outcomeFile) Write(p []byte) (int, error) {
	o := f.outcome
	if o.bytes += int64(len(p)); o.MaxBytes > 0 && o.bytes > o.MaxBytes {
		return 0, TooMuch{o.MaxBytes}
	}
	f.sum.Write(p)
	f.Size += int64(len(p))
	if f.file == nil {
		return len(p), nil
	}
	return f.file.Write(p)
}

// Close closes the file, and adds it to Outcome.Files.
func (f *outcomeFile) Close() error {
	f.Hash = sumText(f.sum.Sum(nil))
	f.outcome.Files = append(f.outcome.Files, f.Result)
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
