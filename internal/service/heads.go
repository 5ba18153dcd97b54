package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"netsim/events"
	"netsim/infra/projector"
)

// spooled are the heads of a log checkpoint in a temporary directory: a compressed file
// for each partition, named by the SHA-256 of its content before compression.
type spooled struct {
	dir   string
	parts []events.HeadsPart
}

// partitionOf identifies a partition of a family's topic.
type partitionOf struct {
	family    events.Family
	partition int32
}

// spool writes the heads at the position of a cut into a new temporary directory, which
// the caller removes. It must run in the transaction that read the cut. Its memory does
// not depend on the number of streams.
func spool(ctx context.Context, tx pgx.Tx, cut projector.Cut) (_ *spooled, err error) {
	s := &spooled{}
	if s.dir, err = os.MkdirTemp("", "netsim-heads-"); err != nil {
		return nil, fmt.Errorf("spool the heads: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.remove())
		}
	}()
	count := map[events.Family]int32{}
	for _, p := range cut.Parts {
		count[p.Family]++
	}
	at := map[partitionOf]int{}
	for i, p := range cut.Parts {
		at[partitionOf{p.Family, p.Partition}] = i
		part := events.HeadsPart{Family: p.Family, Partition: p.Partition, Count: count[p.Family], Sealing: p.Sealing}
		s.parts = append(s.parts, part)
	}
	var file *headsFile // of the partition that is being read
	defer func() {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	finish := func() error {
		if file == nil {
			return nil
		}
		done := file
		file = nil
		return done.finish()
	}
	err = projector.EachHead(ctx, tx, func(family events.Family, c projector.CutChain) error {
		i, known := at[partitionOf{family, c.Partition}]
		if !known {
			return fmt.Errorf("stream %s is in %s/%d, which has no position", c.Stream, family, c.Partition)
		}
		if file == nil || file.part != &s.parts[i] {
			if err := finish(); err != nil {
				return err
			}
			if file, err = s.create(&s.parts[i]); err != nil {
				return err
			}
		}
		return file.heads.Add(c.Stream, c.Head)
	})
	if err == nil {
		err = finish()
	}
	if err == nil {
		err = s.empty()
	}
	return s, err
}

// empty spools the heads of the partitions without facts: an empty file for all.
func (s *spooled) empty() error {
	for i := range s.parts {
		if s.parts[i].Streams > 0 {
			continue
		}
		file, err := s.create(&s.parts[i])
		if err != nil {
			return err
		}
		if err := file.finish(); err != nil {
			return err
		}
	}
	return nil
}

func (s *spooled) path(sum events.Hash) string { return filepath.Join(s.dir, sum.String()) }

func (s *spooled) remove() error { return os.RemoveAll(s.dir) }

// headsFile is the file of a partition's heads while it is written.
type headsFile struct {
	*os.File
	spool *spooled
	part  *events.HeadsPart
	zstd  *zstd.Encoder
	heads *events.HeadsWriter
}

func (s *spooled) create(part *events.HeadsPart) (*headsFile, error) {
	file, err := os.CreateTemp(s.dir, "partition-")
	if err != nil {
		return nil, fmt.Errorf("spool the heads: %w", err)
	}
	compressed, err := zstd.NewWriter(file, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("spool the heads: %w", err), file.Close())
	}
	return &headsFile{file, s, part, compressed, events.NewHeadsWriter(compressed)}, nil
}

// finish ends the file and names it by its digest, which it stores in the partition.
func (f *headsFile) finish() error {
	f.part.Streams, f.part.Sum = f.heads.Sum()
	err := errors.Join(f.zstd.Close(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), f.spool.path(f.part.Sum))
	}
	if err != nil {
		return fmt.Errorf("spool the heads: %w", err)
	}
	return nil
}
