//go:build faketime

package dst

import (
	"slices"
	"strings"
	"time"
)

// tableOID identifies the table of offsets.
const tableOID = uint32(16400)

type tables struct {
	form      string // the comment of the schema; "" without a read model
	cluster   string
	offsets   map[partition]*offsetRow
	streams   map[streamKey]streamRow
	commands  map[[2]string]commandRow // by stream and command id
	positions map[factKey]int64        // offsets of facts
	rejected  map[recordAt]string
	parked    map[recordAt]string
	leases    map[leaseKey]leaseRow
	members   map[memberKey]memberRow
	facts     bool // the tables of leases exist
	recovered time.Time
	views     map[string]viewRow // of the simulation's own projection
}

type partition struct {
	family string
	number int32
}

type recordAt struct {
	partition
	offset int64
}

type offsetRow struct {
	topicID    string
	next       int64
	lastRecord []byte
	facts      int64
	digest     []byte
	sealing    string
}

type streamKey struct {
	partition
	stream string
}

type factKey struct {
	streamKey
	sequence int64
}

type streamRow struct {
	sequence int64
	hash     []byte
	state    *string
	parked   bool
}

type commandRow struct {
	sequence int64
	digest   string
}

type leaseKey struct {
	subscriber string
	shard      int32
}

type leaseRow struct {
	holder  string
	epoch   int64
	expires time.Time
}

type memberKey struct{ subscriber, process string }

type memberRow struct {
	backend int32
	expires time.Time
}

type viewRow struct {
	sequence int64
	name     string
	changes  int64
}

func newTables() *tables {
	return &tables{
		offsets: map[partition]*offsetRow{}, streams: map[streamKey]streamRow{}, commands: map[[2]string]commandRow{},
		positions: map[factKey]int64{}, rejected: map[recordAt]string{}, parked: map[recordAt]string{}, leases: map[leaseKey]leaseRow{},
		members: map[memberKey]memberRow{}, views: map[string]viewRow{},
	}
}

// put sets a key of a map, as part of the transaction.
func put[K comparable, V any](c *call, in map[K]V, key K, value V) {
	before, was := in[key]
	in[key] = value
	c.done(func() {
		if was {
			in[key] = before
		} else {
			delete(in, key)
		}
	})
}

func drop[K comparable, V any](c *call, in map[K]V, key K) {
	if before, was := in[key]; was {
		delete(in, key)
		c.done(func() { in[key] = before })
	}
}

// partitions returns the partitions in order.
func (t *tables) partitions() []partition {
	var all []partition
	for p := range t.offsets {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b partition) int {
		if n := strings.Compare(a.family, b.family); n != 0 {
			return n
		}
		return int(a.number - b.number)
	})
	return all
}
