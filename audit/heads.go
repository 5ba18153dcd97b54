package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"netsim/events"
)

// Heads returns the files that a checkpoint names by their digests: the index of its
// heads, and the heads of each partition.
type Heads interface {
	// Index opens the index with a SHA-256.
	Index(ctx context.Context, sum events.Hash) (io.ReadCloser, error)
	// Partition opens the heads of a partition, not compressed.
	Partition(ctx context.Context, part events.HeadsPart) (io.ReadCloser, error)
}

// ErrJoin is wrapped by the errors for a checkpoint at which a verification cannot
// join.
var ErrJoin = errors.New("the verification cannot join")

// maxIndex bounds an index, in bytes. A topic of 1,000 partitions has about 110 KB.
const maxIndex = 16 << 20

// index reads and checks the index of the heads of a checkpoint.
func (c *Checkpoint) index(ctx context.Context, heads Heads) ([]events.HeadsPart, error) {
	if c.Heads == (events.Hash{}) {
		return nil, fmt.Errorf("%w at checkpoint %s: it names no heads, because an older release made it; choose a later one", ErrJoin, c.Name)
	}
	file, err := heads.Index(ctx, c.Heads)
	if err != nil {
		return nil, fmt.Errorf("%w at checkpoint %s: the index of its heads: %w", ErrJoin, c.Name, err)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxIndex))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%w at checkpoint %s: read the index of its heads: %w", ErrJoin, c.Name, err)
	}
	if sum := events.Hash(sha256.Sum256(text)); sum != c.Heads {
		return nil, fmt.Errorf("%w at checkpoint %s: the index of its heads was changed: its SHA-256 is %s, the checkpoint has %s", ErrJoin, c.Name, sum, c.Heads)
	}
	parts, err := events.ParseHeadsIndex(text)
	if err != nil {
		return nil, fmt.Errorf("%w at checkpoint %s: %w", ErrJoin, c.Name, err)
	}
	return parts, nil
}

// HeadsOf is a partition of a checkpoint with its heads.
type HeadsOf struct {
	Part
	Heads events.HeadsPart
}

// EachHeads checks the heads of a checkpoint: that each file has its digest and agrees
// with the checkpoint. It calls open with every partition, and the function that open
// returns, if any, with each of its heads. It needs no log.
func (c *Checkpoint) EachHeads(ctx context.Context, heads Heads, open func(HeadsOf) (each func(stream string, head events.Head), err error)) error {
	index, err := c.index(ctx, heads)
	if err != nil {
		return err
	}
	if len(index) != len(c.Parts) {
		return fmt.Errorf("%w at checkpoint %s: it has %d partitions, the index of its heads %d", ErrJoin, c.Name, len(c.Parts), len(index))
	}
	var billing []Chain
	for _, part := range c.Parts {
		i := slices.IndexFunc(index, func(h events.HeadsPart) bool { return h.Family == part.Family && h.Partition == part.Partition })
		if i < 0 {
			return fmt.Errorf("%w at checkpoint %s: the index of its heads has no partition %s/%d", ErrJoin, c.Name, part.Family, part.Partition)
		}
		each, err := open(HeadsOf{part, index[i]})
		if err != nil {
			return err
		}
		facts, err := readHeads(ctx, heads, index[i], func(stream string, head events.Head) {
			if part.Family == events.Billing {
				billing = append(billing, Chain{stream, part.Partition, head})
			}
			if each != nil {
				each(stream, head)
			}
		})
		if err != nil {
			return fmt.Errorf("%w at checkpoint %s: the heads of %s/%d: %w", ErrJoin, c.Name, part.Family, part.Partition, err)
		}
		if facts != part.Facts {
			return fmt.Errorf("%w at checkpoint %s: the heads of %s/%d are of %d facts, the checkpoint has %d", ErrJoin, c.Name, part.Family, part.Partition, facts, part.Facts)
		}
	}
	t, err := newTree(billing)
	if err != nil {
		return err
	}
	var root tlog.Hash
	if root, err = t.root(); err != nil {
		return err
	}
	if root != c.Root || int64(len(billing)) != c.Chains {
		return fmt.Errorf("%w at checkpoint %s: its heads have %d billing chains with root %x, the checkpoint %d with root %x",
			ErrJoin, c.Name, len(billing), root[:], c.Chains, c.Root[:])
	}
	return nil
}

// readHeads reads the heads of a partition and returns how many facts its streams have:
// every stream begins at sequence 1.
func readHeads(ctx context.Context, heads Heads, part events.HeadsPart, each func(string, events.Head)) (facts int64, err error) {
	file, err := heads.Partition(ctx, part)
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // the file was only read
	err = events.ReadHeads(file, part, func(stream string, head events.Head) {
		facts += head.Sequence
		each(stream, head)
	})
	return facts, err
}

// compareHeads compares the heads that a checkpoint names with those of the partitions
// that it has, which are read up to its position. It does nothing for a checkpoint
// without heads, or if seals were not checked in a partition that demands them.
func (v *verification) compareHeads(at Where, c *Checkpoint) error {
	if c.Heads == (events.Hash{}) {
		return nil
	}
	var index []events.HeadsPart
	for _, want := range c.Parts {
		p := v.part(want.Family, want.Partition)
		if p.unsure {
			return nil
		}
		part, err := p.headsPart(io.Discard)
		if err != nil {
			return fmt.Errorf("compare the heads of checkpoint %s: %w", c.Name, err)
		}
		index = append(index, part)
	}
	if sum := events.Hash(sha256.Sum256(events.HeadsIndex(index))); sum != c.Heads {
		v.find(at, "checkpoint %s signs other heads than the log has: their index is %s, that of the log %s", c.Name, c.Heads, sum)
	}
	return nil
}

// headsPart writes the heads of a partition and describes them.
func (p *partition) headsPart(to io.Writer) (events.HeadsPart, error) {
	part := events.HeadsPart{Family: p.topic.Family, Partition: p.number, Count: int32(len(p.topic.Ends)), Sealing: p.sealing}
	w := events.NewHeadsWriter(to)
	for _, stream := range slices.Sorted(maps.Keys(p.heads)) {
		if err := w.Add(stream, *p.heads[stream]); err != nil {
			return part, err
		}
	}
	part.Streams, part.Sum = w.Sum()
	return part, nil
}
