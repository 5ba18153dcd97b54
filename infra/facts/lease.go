package facts

// Lease is a shard that this process holds. A later lease of the same shard has
// a larger epoch.
type Lease struct {
	Shard int32
	Epoch int64
}
