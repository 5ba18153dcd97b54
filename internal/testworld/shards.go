package testworld

import (
	"context"

	"netsim/infra/facts"
)

// AllShards is the lease of every shard, for a process without others beside it.
type AllShards int32

// Run calls work once, with all shards. It implements reactor.Leases.
func (n AllShards) Run(ctx context.Context, work func(ctx context.Context, held []facts.Lease) error) error {
	held := make([]facts.Lease, n)
	for i := range held {
		held[i].Shard = int32(i)
	}
	return work(ctx, held)
}
