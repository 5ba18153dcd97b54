package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
)

// FuzzArchive reads files that no archiver would write. Every entry is read or refused.
func FuzzArchive(f *testing.F) {
	var plain, packed bytes.Buffer
	w := tar.NewWriter(&plain)
	for _, err := range []error{
		w.WriteHeader(&tar.Header{Name: "a.0.et", Size: 2, Mode: 0o600}), second(w.Write([]byte("ab"))), w.Close(),
	} {
		if err != nil {
			f.Fatal(err)
		}
	}
	zipped := gzip.NewWriter(&packed)
	if err := errors.Join(second(zipped.Write(plain.Bytes())), zipped.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add(plain.Bytes())
	f.Add(packed.Bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		a, err := Open("fuzz.tar.gz", bytes.NewReader(file))
		for a != nil && err == nil {
			if _, err = a.next(); err == nil {
				_, err = io.Copy(io.Discard, a)
				err = a.failure(err)
			}
		}
		if refusal := new(Refusal); err != nil && err != io.EOF && !errors.As(err, &refusal) {
			t.Errorf("the bytes are there, but reading them fails: %v", err)
		}
	})
}

func second(_ int, err error) error { return err }
