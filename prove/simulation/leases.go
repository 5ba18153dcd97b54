//go:build faketime

package dst

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// leaseStatements are the statements of facts.Leases.
func leaseStatements() []statement {
	missing := func(c *call) error {
		if !c.session.d.tables.facts {
			return &sqlError{"42P01", "relation facts.leases does not exist"}
		}
		return nil
	}
	return []statement{
		{"SELECT pg_advisory_xact_lock(hashtext('create schema facts'))", nil, nil, "SELECT 1", func(*call) error { return nil }},
		{"SELECT to_regclass('facts.leases') IS NOT NULL", nil, []uint32{boolean}, "SELECT 1", func(c *call) error {
			c.row(c.session.d.tables.facts)
			return nil
		}},
		{"CREATE SCHEMA IF NOT EXISTS facts", nil, nil, "CREATE SCHEMA", func(c *call) error {
			t, before := c.session.d.tables, c.session.d.tables.facts
			t.facts = true
			c.done(func() { t.facts = before })
			return nil
		}},
		{"WITH me AS ( INSERT INTO facts.members", []uint32{text, text, pgtype.IntervalOID, int4s, int8s},
			[]uint32{int4s, texts}, "SELECT 1", func(c *call) error {
				if err := missing(c); err != nil {
					return err
				}
				return renew(c)
			}},
		{"INSERT INTO facts.leases AS lease", []uint32{text, text, pgtype.IntervalOID, int4, int8}, []uint32{int4, int8}, "INSERT 0 %d", acquire},
		{"UPDATE facts.leases l SET holder = ''", []uint32{text, text, int4s, int8s}, nil, "UPDATE %d", func(c *call) error {
			t, subscriber, process := c.session.d.tables, get[string](c, 0), get[string](c, 1)
			epochs := get[[]int64](c, 3)
			for i, shard := range get[[]int32](c, 2) {
				key := leaseKey{subscriber, shard}
				if l := t.leases[key]; l.holder == process && l.epoch == epochs[i] {
					put(c, t.leases, key, leaseRow{epoch: l.epoch})
					c.session.d.w.event("lease %s/%d released by %s", subscriber, shard, process)
				}
			}
			return nil
		}},
		{"DELETE FROM facts.members WHERE subscriber = $1", []uint32{text, text}, nil, "DELETE %d", func(c *call) error {
			drop(c, c.session.d.tables.members, memberKey{get[string](c, 0), get[string](c, 1)})
			return nil
		}},
	}
}

func renew(c *call) error {
	d := c.session.d
	t, now := d.tables, d.now()
	subscriber, process, ttl := get[string](c, 0), get[string](c, 1), get[time.Duration](c, 2)
	shards, epochs := get[[]int32](c, 3), get[[]int64](c, 4)
	others := []string{}
	for key, m := range t.members { // sorted below; only their number and order of names matter
		if key.subscriber != subscriber || key.process == process {
			continue
		}
		if _, connected := d.sessions[m.backend]; connected && !m.expires.Before(now) {
			others = append(others, key.process)
		} else {
			drop(c, t.members, key)
		}
	}
	slices.Sort(others)
	put(c, t.members, memberKey{subscriber, process}, memberRow{c.session.pid, now.Add(ttl)})
	kept := []int32{}
	for i, shard := range shards {
		key := leaseKey{subscriber, shard}
		if l := t.leases[key]; l.holder == process && l.epoch == epochs[i] {
			put(c, t.leases, key, leaseRow{process, l.epoch, now.Add(ttl)})
			kept = append(kept, shard)
		}
	}
	c.row(kept, others)
	return nil
}

func acquire(c *call) error {
	d := c.session.d
	t, now := d.tables, d.now()
	subscriber, process, ttl := get[string](c, 0), get[string](c, 1), get[time.Duration](c, 2)
	shards, most := get[int32](c, 3), get[int64](c, 4)
	for shard := range shards {
		key := leaseKey{subscriber, shard}
		l, exists := t.leases[key]
		_, member := t.members[memberKey{subscriber, l.holder}]
		if exists && member && !l.expires.Before(now) || int64(c.count) == most {
			continue
		}
		epoch := max(now.UnixMicro(), l.epoch+1)
		put(c, t.leases, key, leaseRow{process, epoch, now.Add(ttl)})
		d.w.event("lease %s/%d acquired by %s, epoch %d", subscriber, shard, process, epoch)
		d.w.counts.leases++
		c.row(shard, epoch)
	}
	return nil
}
