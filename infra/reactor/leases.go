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
