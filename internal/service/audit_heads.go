package service

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"netsim/audit"
	"netsim/events"
	"netsim/infra/objects"
)

// heads reads the heads of checkpoints from a directory, or for "" from the object store
// of the settings.
func (c AuditConfig) heads(directory string) (audit.Heads, error) {
	if directory != "" {
		return headsDirectory(directory), nil
	}
	if c.S3Endpoint == "" {
		return nil, errors.New("the heads of a checkpoint are in the object store, and NETSIM_S3_ENDPOINT is not set; set it, or name a directory with the heads")
	}
	return storedHeads{objects.New(objects.Config{
		Endpoint: c.S3Endpoint, Region: c.S3Region, Bucket: c.S3Bucket, AccessKey: c.S3AccessKey, SecretKey: c.S3SecretKey,
	})}, nil
}

// Heads checks the heads of a log checkpoint in the object store; those of the newest
// checkpoint for the name "". Unless the directory is "", it writes the signed note, the
// index and the heads there, decompressed, for VerifyFrom and for verdicts.py.
func (a *Auditor) Heads(ctx context.Context, verifier, name, directory string) (c audit.Checkpoint, parts []audit.HeadsOf, err error) {
	heads, err := a.config.heads("")
	if err != nil {
		return c, nil, err
	}
	log, err := a.log(ctx)
	if err != nil {
		return c, nil, err
	}
	c, note, err := log.Checkpoint(ctx, verifier, name)
	if err != nil {
		return c, nil, err
	}
	if directory != "" {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return c, nil, err
		}
		heads = &copiedHeads{heads, directory}
	}
	err = c.EachHeads(ctx, heads, func(h audit.HeadsOf) (func(string, events.Head), error) {
		parts = append(parts, h)
		return nil, nil
	})
	if err == nil && directory != "" {
		err = os.WriteFile(filepath.Join(directory, filepath.Base(c.Name)+".note"), []byte(note), 0o644)
	}
	return c, parts, err
}

// copiedHeads copies all heads that are read to a directory.
type copiedHeads struct {
	audit.Heads
	directory string
}

// Index implements audit.Heads.
func (h *copiedHeads) Index(ctx context.Context, sum events.Hash) (io.ReadCloser, error) {
	file, err := h.Heads.Index(ctx, sum)
	if err != nil {
		return nil, err
	}
	return h.copy(file, indexName(sum))
}

// Partition implements audit.Heads.
func (h *copiedHeads) Partition(ctx context.Context, part events.HeadsPart) (io.ReadCloser, error) {
	file, err := h.Heads.Partition(ctx, part)
	if err != nil {
		return nil, err
	}
	return h.copy(file, indexName(part.Sum))
}

// copy returns a reader that copies what is read: not more than the reader of heads
// accepts, although the digest is checked only at the end.
func (h *copiedHeads) copy(from io.ReadCloser, name string) (io.ReadCloser, error) {
	to, err := os.Create(filepath.Join(h.directory, name))
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(from, to), closers{from, to}}, nil
}
