package main

import (
	"context"
	"fmt"

	"netsim/infra/wait"
)

// fillBroker fills a broker's disk, which ends the broker.
func fillBroker(c *campaign, ctx context.Context, f fault) (string, error) {
	b := c.broker(f)
	return c.fill(ctx, f, b.Name(), func() error {
		b.Kill() // it may have ended by itself
		return b.Start()
	})
}

// fillPostgres fills the primary's disk, which ends the primary.
func fillPostgres(c *campaign, ctx context.Context, f fault) (string, error) {
	p := c.cluster.Primary()
	return c.fill(ctx, f, p.Name(), func() error { return p.Revive(ctx, readyTimeout) })
}

// fillObjects fills the disk of the object store, which then answers with errors.
func fillObjects(c *campaign, ctx context.Context, f fault) (string, error) {
	return c.fill(ctx, f, "objects", func() error { return nil })
}

// fill leaves a part no space, frees the space after a while, and has the part
// restarted if it must be.
func (c *campaign) fill(ctx context.Context, f fault, name string, restart func() error) (string, error) {
	if c.disks == nil {
		return "", nil
	}
	left := int64(f.Detail % 65536)
	if err := c.disks.Fill(name, left); err != nil {
		return "", err
	}
	err := firstError(wait.For(ctx, f.Lasts), func() error { return c.disks.Free(name) }, restart)
	return fmt.Sprintf("%s had %d bytes left", name, left), err
}
