package operate

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"netsim/audit"
	"netsim/cmd/checkpoints"
	"netsim/cmd/connections"
	"netsim/cmd/settings"
	"netsim/events"
)

// headsOf returns the heads of checkpoints in a directory, or for "" in the object store
// of the settings.
func headsOf(c *settings.Offline, directory string) (audit.Heads, error) {
	if directory != "" {
		return checkpoints.Directory(directory), nil
	}
	if c.S3Endpoint == "" {
		return nil, errors.New("the heads of a checkpoint are in the object store, and NETSIM_S3_ENDPOINT is not set; set it, or name a directory with the heads")
	}
	all := c.Config()
	return checkpoints.Stored(connections.Objects(&all, connections.Observer{})), nil
}

// Heads checks the heads of a log checkpoint in the object store; those of the newest
// checkpoint for the name "". Unless the directory is "", it writes the signed note, the
// index and the heads there, decompressed, for VerifyFrom and for verdicts.py.
func (a *Auditor) Heads(ctx context.Context, verifier, name, directory string) (c audit.Checkpoint, parts []audit.HeadsOf, err error) {
	heads, err := headsOf(&a.config, "")
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
		heads = checkpoints.Copied(heads, directory)
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
