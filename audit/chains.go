package audit

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"netsim/events"
)

// Chain is a billing stream in one partition, up to its head.
type Chain struct {
	Stream    string
	Partition int32
	Head      events.Head
}

// leaf returns the chain's leaf in the tree. It is text, so that any program can
// compute it.
func (c Chain) leaf() string {
	return fmt.Sprintf("%s %d %d %s", c.Stream, c.Partition, c.Head.Sequence, c.Head.Hash)
}

// tree is the Merkle tree of RFC 6962 over chains, sorted by stream (as bytes),
// then by partition.
type tree struct {
	chains []Chain
	stored []tlog.Hash
}

func newTree(chains []Chain) (*tree, error) {
	t := &tree{chains: chains, stored: make([]tlog.Hash, 0, 2*len(chains))}
	slices.SortFunc(t.chains, compareChains)
	for i, c := range t.chains {
		more, err := tlog.StoredHashes(int64(i), []byte(c.leaf()), t)
		if err != nil {
			return nil, fmt.Errorf("hash the chains: %w", err)
		}
		t.stored = append(t.stored, more...)
	}
	return t, nil
}

func compareChains(a, b Chain) int {
	return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Partition, b.Partition))
}

// ReadHashes implements tlog.HashReader.
func (t *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		hashes[i] = t.stored[at]
	}
	return hashes, nil
}

func (t *tree) root() (tlog.Hash, error) {
	root, err := tlog.TreeHash(int64(len(t.chains)), t)
	if err != nil {
		return root, fmt.Errorf("hash the chains: %w", err)
	}
	return root, nil
}

// proof proves that a chain is in a tree: the index of its leaf, and the hashes
// of the siblings on the path from there to the root.
type proof struct {
	Stream    string   `json:"stream"`
	Partition int32    `json:"partition"`
	Sequence  int64    `json:"sequence"`
	Hash      string   `json:"hash"`
	Index     int64    `json:"index"`
	Path      []string `json:"path"` // hex, from the leaf up
}

// prove returns the proof of every chain of the stream. A stream has one chain,
// unless another writer used its name in another partition.
func (t *tree) prove(stream string) (proofs []proof, err error) {
	for i, c := range t.chains {
		if c.Stream != stream {
			continue
		}
		path, err := tlog.ProveRecord(int64(len(t.chains)), int64(i), t)
		if err != nil {
			return nil, fmt.Errorf("prove %s: %w", stream, err)
		}
		p := proof{c.Stream, c.Partition, c.Head.Sequence, c.Head.Hash.String(), int64(i), []string{}}
		for _, h := range path {
			p.Path = append(p.Path, fmt.Sprintf("%x", h[:]))
		}
		proofs = append(proofs, p)
	}
	return proofs, nil
}

// check returns an error unless the proof leads to the root of a tree of size
// chains.
func (p proof) check(size int64, root tlog.Hash) error {
	head, err := parseHash(p.Hash)
	if err != nil {
		return err
	}
	var path tlog.RecordProof
	for _, text := range p.Path {
		h, err := parseHash(text)
		if err != nil {
			return err
		}
		path = append(path, tlog.Hash(h))
	}
	c := Chain{p.Stream, p.Partition, events.Head{Sequence: p.Sequence, Hash: head}}
	if err := tlog.CheckRecord(path, size, root, p.Index, tlog.RecordHash([]byte(c.leaf()))); err != nil {
		return fmt.Errorf("the proof of %s at sequence %d does not lead to the checkpoint's root", p.Stream, p.Sequence)
	}
	return nil
}
