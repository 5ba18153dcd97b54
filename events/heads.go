package events

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
)

// ErrHeads is wrapped by the error for heads that are not in the form of docs/log.md,
// or are not those of their digest.
var ErrHeads = errors.New("not the heads")

// HeadsWriter writes the heads of a partition's streams: for each stream a line with
// the stream, the sequence and the hash of its last fact. Equal heads give equal bytes.
type HeadsWriter struct {
	w       io.Writer
	sum     hash.Hash
	streams int64
	line    []byte
	last    string
}

// NewHeadsWriter returns a HeadsWriter that writes every line with one call of w.
func NewHeadsWriter(w io.Writer) *HeadsWriter { return &HeadsWriter{w: w, sum: sha256.New()} }

// Add writes the head of a stream. Streams must come in the order of their bytes, each
// once.
func (w *HeadsWriter) Add(stream string, head Head) error {
	switch {
	case stream <= w.last:
		return fmt.Errorf("the head of stream %q comes after that of %q", stream, w.last)
	case !FrameText(stream) || head.Sequence < 1 || head.Sequence > maxSequence || head.Hash == Hash{}:
		return fmt.Errorf("stream %q has no valid head: sequence %d, hash %s", stream, head.Sequence, head.Hash)
	}
	w.last = stream
	w.line = append(append(w.line[:0], stream...), ' ')
	w.line = append(strconv.AppendInt(w.line, head.Sequence, 10), ' ')
	w.line = append(hex.AppendEncode(w.line, head.Hash[:]), '\n')
	w.sum.Write(w.line)
	w.streams++
	if _, err := w.w.Write(w.line); err != nil {
		return fmt.Errorf("write the heads: %w", err)
	}
	return nil
}

// Sum returns the number of streams and the SHA-256 of all lines.
func (w *HeadsWriter) Sum() (streams int64, sum Hash) { return w.streams, Hash(w.sum.Sum(nil)) }

// maxHeadLine is the length in bytes of the longest line of a HeadsWriter.
const maxHeadLine = maxFrameValue + 1 + len("9007199254740991") + 1 + 2*sha256.Size + 1

// ReadHeads reads what a HeadsWriter wrote for a partition and calls each with every
// head. If the number of streams or the digest is not the partition's, or a line is not
// in the form, it returns an error that wraps ErrHeads; the heads that each was called
// with must then not be used. It reads at most one line more than the partition has
// streams.
func ReadHeads(r io.Reader, part HeadsPart, each func(stream string, head Head)) error {
	lines, sum := bufio.NewReaderSize(r, 64<<10), sha256.New()
	last := ""
	for n := int64(0); ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			if n != part.Streams {
				return fmt.Errorf("%w: there are %d streams, want %d", ErrHeads, n, part.Streams)
			}
			break
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("read the heads: %w", err)
		}
		if n == part.Streams {
			return fmt.Errorf("%w: there are more than %d streams", ErrHeads, part.Streams)
		}
		stream, head, ok := parseHead(line)
		if !ok || err != nil || stream <= last {
			return fmt.Errorf("%w: line %d is not a head: %q", ErrHeads, n+1, line[:min(len(line), maxHeadLine)])
		}
		last = stream
		sum.Write(line)
		each(stream, head)
	}
	if got := Hash(sum.Sum(nil)); got != part.Sum {
		return fmt.Errorf("%w: their SHA-256 is %s, want %s", ErrHeads, got, part.Sum)
	}
	return nil
}

// parseHead parses a line with its line feed.
func parseHead(line []byte) (stream string, head Head, ok bool) {
	name, rest, _ := bytes.Cut(line, []byte{' '})
	digits, rest, _ := bytes.Cut(rest, []byte{' '})
	hash, rest, ended := bytes.Cut(rest, []byte{'\n'})
	if !ended || len(rest) > 0 || !printable(name) || !lowerHex(hash, head.Hash[:]) || head.Hash == (Hash{}) {
		return "", head, false
	}
	sequence, err := plainInt(digits, maxSequence)
	head.Sequence = sequence
	return string(name), head, err == nil
}
