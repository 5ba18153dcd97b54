package execution

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"iter"

	"netsim/simulator/chakra"
	"netsim/simulator/compressed"
	"netsim/simulator/replay"
)

// openedFile is a file of a traceset, with the result of opening it.
type openedFile struct {
	File

	body io.ReadCloser
	err  error
}

// readAhead is the number of files to open ahead of the one being read. A store
// takes milliseconds to open a file, and there may be thousands of small files.
const readAhead = 16

// openAhead opens the files concurrently, up to readAhead in advance, and yields them in
// order. The caller closes each file.
func openAhead(ctx context.Context, source Files, files []File) iter.Seq[openedFile] {
	return func(yield func(openedFile) bool) {
		queue, stop := make(chan chan openedFile, readAhead), make(chan struct{})
		go func() {
			defer close(queue)
			for _, f := range files {
				answer := make(chan openedFile, 1)
				select {
				case queue <- answer:
				case <-stop:
					return
				}
				go func() {
					body, err := source.Open(ctx, f)
					answer <- openedFile{f, body, err}
				}()
			}
		}()
		for answer := range queue {
			if !yield(<-answer) {
				break
			}
		}
		close(stop)
		for answer := range queue {
			unread := <-answer
			unread.close()
		}
	}
}

func (o openedFile) close() {
	if o.body != nil {
		o.body.Close() //nolint:errcheck // it was only read
	}
}

// addTo adds one rank's file to the builder and checks the file's hash.
func (o openedFile) addTo(b *replay.Builder, rank int) error {
	if o.err != nil {
		return o.err
	}
	stored := newSummed(o.body)
	r, err := chakra.NewReader(stored, chakra.Limits{})
	if err == nil {
		err = b.Add(rank, r)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, stored)
	}
	switch {
	case stored.Err != nil:
		return fmt.Errorf("read %s: %w", o.Name, stored.Err)
	case err != nil:
		return unfit("file %s of the traceset: %w", o.Name, err)
	case stored.differs(o.File):
		return unfit("file %s of the traceset does not match its hash", o.Name)
	}
	return nil
}

// summed hashes the bytes that are read. It records read errors, which are faults of
// the store and not of the content.
type summed struct {
	*compressed.Watched
	sum hash.Hash
}

func newSummed(r io.Reader) *summed {
	sum := sha256.New()
	return &summed{compressed.Watch(io.TeeReader(r, sum)), sum}
}

// differs reports whether the content does not match the file's hash. Files from
// archives have no hash of their own.
func (s *summed) differs(f File) bool { return f.Hash != "" && f.Hash != sumText(s.sum.Sum(nil)) }
