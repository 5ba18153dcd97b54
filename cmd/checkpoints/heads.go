package checkpoints

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"netsim/events"
	"netsim/infra/projector"
)

// spooled are the heads of a log checkpoint in a temporary file without a name, so
// nothing is left of it when the process ends: for each partition one after the other
// its heads, compressed.
type spooled struct {
	file  *os.File
	end   int64 // of the file
	parts []events.HeadsPart
	at    map[events.Hash]section // by HeadsPart.Sum
}

// section is a part of a file, in bytes.
type section struct{ from, length int64 }

// partitionOf identifies a partition of a family's topic.
type partitionOf struct {
	family    events.Family
	partition int32
}

// spool writes the heads at the position of a cut into a temporary file, which the
// caller closes. It must run in the transaction that read the cut. Its memory does not
// depend on the number of streams.
func spool(ctx context.Context, tx pgx.Tx, cut projector.Cut) (_ *spooled, err error) {
	s := &spooled{at: map[events.Hash]section{}}
	if s.file, err = unnamed(); err != nil {
		return nil, fmt.Errorf("spool the heads: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	count := map[events.Family]int32{}
	for _, p := range cut.Parts {
		count[p.Family]++
	}
	number := map[partitionOf]int{}
	for i, p := range cut.Parts {
		number[partitionOf{p.Family, p.Partition}] = i
		part := events.HeadsPart{Family: p.Family, Partition: p.Partition, Count: count[p.Family], Sealing: p.Sealing}
		s.parts = append(s.parts, part)
	}
	out, err := newSpooling(s)
	if err != nil {
		return nil, err
	}
	last := -1 // the partition that is being read
	err = projector.EachHead(ctx, tx, func(family events.Family, c projector.CutChain) error {
		i, known := number[partitionOf{family, c.Partition}]
		if !known {
			return fmt.Errorf("stream %s is in %s/%d, which has no position", c.Stream, family, c.Partition)
		}
		if i != last && last >= 0 {
			if err := out.finish(&s.parts[last]); err != nil {
				return err
			}
		}
		last = i
		return out.heads.Add(c.Stream, c.Head)
	})
	if err == nil && last >= 0 {
		err = out.finish(&s.parts[last])
	}
	for i := range s.parts {
		if err == nil && s.parts[i].Streams == 0 {
			err = out.finish(&s.parts[i])
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// unnamed makes a file that only this process can reach.
func unnamed() (*os.File, error) {
	file, err := os.CreateTemp("", "netsim-heads-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// content reads the compressed heads with a digest.
func (s *spooled) content(sum events.Hash) io.Reader {
	at := s.at[sum]
	return io.NewSectionReader(s.file, at.from, at.length)
}

// close deletes the file.
func (s *spooled) close() error { return s.file.Close() }

// spooling writes the heads of one partition after the other.
type spooling struct {
	*spooled
	buffer *bufio.Writer
	size   *counter
	zstd   *zstd.Encoder
	heads  *events.HeadsWriter
}

func newSpooling(s *spooled) (*spooling, error) {
	out := &spooling{spooled: s, buffer: bufio.NewWriterSize(s.file, 1<<20)}
	out.size = &counter{Writer: out.buffer}
	var err error
	if out.zstd, err = zstd.NewWriter(out.size, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true)); err != nil {
		return nil, fmt.Errorf("spool the heads: %w", err)
	}
	out.heads = events.NewHeadsWriter(out.zstd)
	return out, nil
}

// finish ends the heads of a partition, stores their number and digest in it, and begins
// those of the next.
func (out *spooling) finish(part *events.HeadsPart) error {
	if err := errors.Join(out.zstd.Close(), out.buffer.Flush()); err != nil {
		return fmt.Errorf("spool the heads: %w", err)
	}
	part.Streams, part.Sum = out.heads.Sum()
	out.at[part.Sum] = section{out.end, out.size.written - out.end}
	out.end = out.size.written
	out.zstd.Reset(out.size)
	out.heads = events.NewHeadsWriter(out.zstd)
	return nil
}

// counter counts the bytes that are written.
type counter struct {
	io.Writer
	written int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.written += int64(n)
	return n, err
}
