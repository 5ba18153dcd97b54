package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/objects"
	"netsim/runs/execution"
)

// Prefix is the prefix of all objects of a simulation.
func Prefix(simulation string) string { return "results/" + simulation + "/" }

// ManifestName is the name of the list of result files, below an attempt's prefix.
const ManifestName = "manifest.json"

// Manifest lists the result files of a simulation, in the order in which they were
// closed. It does not list itself.
type Manifest struct {
	Files []File `json:"files"`
}

// File is one result file. Its object key is the attempt's prefix and the name.
type File struct {
	Name        string `json:"name"`
	Size        int64  `json:"size"`   // bytes
	SHA256      string `json:"sha256"` // hex
	ContentType string `json:"contentType"`
	Type        string `json:"type"` // csv, json, log, state, pcap, unknown
}

// files writes the result files of an attempt. The run's goroutine uses it.
type files struct {
	ctx    context.Context // of the attempt; the recorder creates files without a context
	store  *objects.Store
	calls  *storeCalls
	prefix string
	open   []*file
	done   Manifest
	err    error // the first error of the store

	overlapped bool           // whether uploads are completed in the background
	completing errgroup.Group // those uploads

	snapshots []File       // the kept snapshots, newest last
	written   atomic.Int64 // bytes of all files
	kept      bool         // whether a snapshot refers to the open files
}

// newFiles returns the files of a new attempt, none yet, with a prefix of its own.
func (s *storeCalls) newFiles(ctx context.Context) *files {
	return &files{ctx: ctx, store: s.Objects, calls: s, prefix: Prefix(s.simulation) + events.NewID("attempt") + "/"}
}

// upload starts an upload.
func (f *files) upload(name, contentType string) *objects.Upload {
	up := f.store.Create(f.ctx, f.prefix+name, contentType)
	up.Call = f.callsFor(name)
	return up
}

// callsFor returns the function with which an upload calls the store.
func (f *files) callsFor(name string) func(func() error) error {
	return func(call func() error) error {
		return f.calls.do(f.ctx, fmt.Sprintf("result file %.100s could not be stored", name), call)
	}
}

type file struct {
	*objects.Upload
	files *files
	File
}

func (f *files) create(name string) (io.WriteCloser, error) {
	contentType, kind := typesOf(name)
	w := &file{
		Upload: f.upload(name, contentType), files: f,
		File: File{Name: name, ContentType: contentType, Type: kind},
	}
	f.open = append(f.open, w)
	return w, nil
}

// Write implements io.Writer.
func (w *file) Write(p []byte) (int, error) {
	n, err := w.Upload.Write(p)
	w.files.written.Add(int64(n))
	return n, w.files.note(err)
}

// Close completes the upload, see overlap, and lists the file.
func (w *file) Close() error {
	stored := w.Stored()
	if err := w.files.complete(w.Upload); err != nil {
		return err
	}
	w.Size, w.SHA256 = stored.Size, stored.SHA256
	w.files.open = slices.DeleteFunc(w.files.open, func(o *file) bool { return o == w })
	w.files.done.Files = append(w.files.done.Files, w.File)
	return nil
}

// maxOverlap is how many uploads of a run are completed at the same time.
const maxOverlap = 8

// overlap lets the files that are closed from now on be completed in the background, at the
// same time: a run writes many small files at its end, and each takes the store a while. A
// file is stored once wait has returned nil.
func (f *files) overlap() {
	f.overlapped = true
	f.completing.SetLimit(maxOverlap)
}

// complete completes an upload to which nothing is written any more.
func (f *files) complete(up *objects.Upload) error {
	if !f.overlapped {
		return f.note(up.Close())
	}
	f.completing.Go(up.Close)
	return f.err
}

// wait waits until no upload is being completed. Its error is the first of all of them.
func (f *files) wait() error { return f.note(f.completing.Wait()) }

func (f *files) note(err error) error {
	if f.err == nil {
		f.err = err
	}
	return err
}

// writeJSON writes a result file as JSON.
func (f *files) writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	w, err := f.create(name)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return err
	}
	return w.Close()
}

// seal writes the manifest of the closed files, and returns its key. All of them are stored
// then.
func (f *files) seal() (string, error) {
	text, err := json.Marshal(f.done)
	if err != nil {
		return "", fmt.Errorf("encode the manifest: %w", err)
	}
	up := f.upload(ManifestName, "application/json")
	if _, err := up.Write(text); err != nil {
		return "", f.note(err)
	}
	return f.prefix + ManifestName, errors.Join(f.complete(up), f.wait())
}

// results returns the closed files in the form of a receipt.
func (f *files) results() []execution.Result {
	list := make([]execution.Result, len(f.done.Files))
	for i, d := range f.done.Files {
		list[i] = execution.Result{Name: d.Name, Hash: "sha256:" + d.SHA256, Size: d.Size}
	}
	return list
}

// size returns the total size of the closed files, in bytes.
func (f *files) size() int64 {
	var sum int64
	for i := range f.done.Files {
		sum += f.done.Files[i].Size
	}
	return sum
}

// abort drops the open uploads, unless another worker can continue them. No upload is being
// completed then.
func (f *files) abort() error {
	_ = f.wait() // the run that needs its files has waited for them
	if f.kept {
		return nil
	}
	var all error
	for _, w := range f.open {
		all = errors.Join(all, w.Abort())
	}
	f.open = nil
	return all
}

// typesOf returns the content type and the listed type of a file, by its suffix
// (completions.md 5.3, 5.8).
func typesOf(name string) (contentType, kind string) {
	for _, t := range [...]struct{ suffix, contentType, kind string }{
		{".csv", "text/csv", "csv"},
		{".json", "application/json", "json"},
		{".json.zst", "application/zstd", "json"},
		{".log", "text/plain", "log"},
		{".txt", "text/plain", "log"},
		{".state", "application/octet-stream", "state"},
		{".pcap", "application/vnd.tcpdump.pcap", "pcap"},
	} {
		if strings.HasSuffix(name, t.suffix) {
			return t.contentType, t.kind
		}
	}
	return "application/octet-stream", "unknown"
}
