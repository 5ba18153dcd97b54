package reactor

import (
	"context"

	"netsim/infra/facts"
)

// Leases gives this process shards. facts.Leases implements it.
type Leases interface {
	// Run calls work with the shards that this process holds, until ctx ends. When
	// they change, the context of work ends, and once work has returned it is called
	// with the new ones.
	Run(ctx context.Context, work func(ctx context.Context, held []facts.Lease) error) error
}

// AllShards is the lease of every shard, for a process without others beside it.
type AllShards int32

// Run implements Leases.
func (n AllShards) Run(ctx context.Context, work func(ctx context.Context, held []facts.Lease) error) error {
	held := make([]facts.Lease, n)
	for i := range held {
		held[i].Shard = int32(i)
	}
	return work(ctx, held)
}
