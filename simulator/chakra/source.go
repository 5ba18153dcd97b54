package chakra

import (
	"bufio"
	"errors"
	"io"

	"netsim/simulator/compressed"
)

const (
	bufferSize = 64 << 10
	sniffSize  = 512 // bytes that identify the format of a file
)

// source reads the decompressed bytes of a file, up to the limits.
type source struct {
	*bufio.Reader

	stored *compressed.Watched
}

func newSource(r io.Reader, limits Limits) (*source, error) {
	plain, err := compressed.Open(r, compressed.Limits{Bytes: limits.Bytes, Ratio: limits.Ratio}, func(reason string) error {
		return fileRefusal("the file " + reason)
	})
	s := &source{bufio.NewReaderSize(plain, bufferSize), plain.Stored}
	if err != nil {
		return nil, s.failure(err)
	}
	return s, nil
}

// failure returns the error to report for a read error: the store's own error unchanged,
// or else a refusal of the file's bytes.
func (s *source) failure(err error) error {
	var reason refusal
	var ofFile fileRefusal
	switch {
	case s.stored.Err != nil:
		return s.stored.Err
	case errors.As(err, &reason), errors.As(err, &ofFile):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return refuse("the file ends in the middle")
	default:
		return refuse("cannot be decompressed: %v", err)
	}
}
