//go:build faketime

package dst

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// statement is a statement that the core sends, and what it does. A statement that is
// not listed fails the simulation.
type statement struct {
	match   string // occurs in the text, in which white space is one space
	params  []uint32
	columns []uint32
	tag     string // with %d for the number of rows
	run     func(*call) error
}

const (
	text    = pgtype.TextOID
	texts   = pgtype.TextArrayOID
	int4    = pgtype.Int4OID
	int4s   = pgtype.Int4ArrayOID
	int8    = pgtype.Int8OID
	int8s   = pgtype.Int8ArrayOID
	bytea   = pgtype.ByteaOID
	byteas  = pgtype.ByteaArrayOID
	boolean = pgtype.BoolOID
	bools   = pgtype.BoolArrayOID
	oid     = pgtype.OIDOID
	times   = pgtype.TimestamptzArrayOID
)

var spaces = regexp.MustCompile(`\s+`)

// unqualified removes the schema of the only read model.
var unqualified = strings.NewReplacer(`"readmodel".`, "", "readmodel.", "")

// find returns the statement with the text, nil for one that is not listed.
func (d *database) find(text string) *statement {
	if found, ok := d.known[text]; ok {
		return found
	}
	plain := unqualified.Replace(spaces.ReplaceAllString(text, " "))
	for i := range d.w.statements {
		if strings.Contains(plain, d.w.statements[i].match) {
			d.known[text] = &d.w.statements[i]
			break
		}
	}
	return d.known[text]
}

// unique is the error of a row that exists.
func unique(table string, key any) error {
	return &sqlError{"23505", fmt.Sprintf("duplicate key in %s: %v", table, key)}
}

func statements() []statement {
	none := func(*call) error { return nil }
	all := []statement{
		{"FROM pg_namespace WHERE nspname = ANY($1)", []uint32{texts}, []uint32{text, text}, "SELECT %d", func(c *call) error {
			if form := c.session.d.tables.form; form != "" {
				c.row("readmodel", form)
			}
			return nil
		}},
		{"FROM pg_namespace WHERE oid = (SELECT relnamespace FROM pg_class WHERE oid = 'offsets'::regclass)", []uint32{text}, []uint32{text, text, text}, "SELECT %d", func(c *call) error {
			form := c.session.d.tables.form
			if form == "" {
				return &sqlError{"42P01", "relation offsets does not exist"}
			}
			c.row("readmodel", form, form)
			return nil
		}},
		{"SELECT current_schema() LIKE", nil, []uint32{boolean}, "SELECT 1", func(c *call) error {
			c.row(false)
			return nil
		}},
		{"SELECT current_schema()", nil, []uint32{text}, "SELECT 1", func(c *call) error {
			c.row("readmodel")
			return nil
		}},
		{"SELECT pg_advisory_xact_lock(", []uint32{text}, nil, "SELECT 1", none},
		{"CREATE SCHEMA \"readmodel\"", nil, nil, "CREATE SCHEMA", func(c *call) error {
			t, before := c.session.d.tables, c.session.d.tables.form
			_, rest, _ := strings.Cut(c.text, "IS '")
			t.form, _, _ = strings.Cut(rest, "'")
			c.done(func() { t.form = before })
			return nil
		}},
		{"INSERT INTO log (cluster_id)", []uint32{text}, nil, "INSERT 0 %d", func(c *call) error {
			t := c.session.d.tables
			if t.cluster == "" {
				t.cluster = get[string](c, 0)
				c.done(func() { t.cluster = "" })
				c.count = 1
			}
			return nil
		}},
		{"INSERT INTO offsets VALUES", []uint32{text, int4, text, bytea}, nil, "INSERT 0 1", func(c *call) error {
			key := partition{get[string](c, 0), get[int32](c, 1)}
			if c.session.d.tables.offsets[key] != nil {
				return unique("offsets", key)
			}
			put(c, c.session.d.tables.offsets, key,
				&offsetRow{topicID: get[string](c, 2), digest: get[[]byte](c, 3), lastRecord: []byte{}})
			return nil
		}},
		{"SELECT to_regclass($1) IS NOT NULL", []uint32{text}, []uint32{boolean}, "SELECT 1", func(c *call) error {
			c.row(c.session.d.tables.form != "")
			return nil
		}},
		{"SELECT cluster_id FROM log", nil, []uint32{text}, "SELECT %d", func(c *call) error {
			if cluster := c.session.d.tables.cluster; cluster != "" {
				c.row(cluster)
			}
			return nil
		}},
		{"SELECT family, partition, topic_id, next, last_record, facts, digest, sealing, tableoid FROM", nil,
			[]uint32{text, int4, text, int8, bytea, int8, bytea, text, oid}, "SELECT %d", func(c *call) error {
				t := c.session.d.tables
				for _, p := range t.partitions() {
					o := t.offsets[p]
					c.row(p.family, p.number, o.topicID, o.next, o.lastRecord, o.facts, o.digest, o.sealing, tableOID)
				}
				return nil
			}},
		{"SELECT family, partition, next FROM offsets", nil, []uint32{text, int4, int8}, "SELECT %d", func(c *call) error {
			t := c.session.d.tables
			for _, p := range t.partitions() {
				c.row(p.family, p.number, t.offsets[p].next)
			}
			return nil
		}},
		{"SELECT family, count(*)::int FROM offsets GROUP BY family", nil, []uint32{text, int4}, "SELECT %d", func(c *call) error {
			t := c.session.d.tables
			counts, order := map[string]int32{}, []string{}
			for _, p := range t.partitions() {
				if counts[p.family]++; counts[p.family] == 1 {
					order = append(order, p.family)
				}
			}
			for _, family := range order {
				c.row(family, counts[family])
			}
			return nil
		}},
		{"WITH moved AS (", []uint32{texts, int4s, int8s, int8s, byteas, int8s, byteas, texts, int8s, int8, oid, text, text}, []uint32{int4}, "SELECT 1", moveOffsets},
		{"INSERT INTO streams", []uint32{texts, texts, int4s, int8s, byteas, texts, bools}, nil, "INSERT 0 %d", saveStreams},
		{"INSERT INTO command_ids", []uint32{texts, texts, int8s, texts}, nil, "INSERT 0 %d", func(c *call) error {
			streams, ids, sequences, digests := get[[]string](c, 0), get[[]string](c, 1), get[[]int64](c, 2), get[[]string](c, 3)
			for i, id := range ids {
				key := [2]string{streams[i], id}
				if _, there := c.session.d.tables.commands[key]; !there {
					put(c, c.session.d.tables.commands, key, commandRow{sequences[i], digests[i]})
				}
			}
			return nil
		}},
		{"INSERT INTO facts (", []uint32{texts, texts, int4s, int8s, int8s, int4s, times, texts}, nil, "INSERT 0 %d", func(c *call) error {
			streams, families, numbers, sequences, offsets := get[[]string](c, 0), get[[]string](c, 1), get[[]int32](c, 2), get[[]int64](c, 3), get[[]int64](c, 4)
			for i, stream := range streams {
				key := factKey{streamKey{partition{families[i], numbers[i]}, stream}, sequences[i]}
				if _, there := c.session.d.tables.positions[key]; there {
					return unique("facts", key)
				}
				put(c, c.session.d.tables.positions, key, offsets[i])
			}
			return nil
		}},
		{"INSERT INTO rejected", []uint32{texts, int4s, int8s, texts, texts, texts}, nil, "INSERT 0 %d", func(c *call) error {
			families, numbers, offsets, verdicts := get[[]string](c, 0), get[[]int32](c, 1), get[[]int64](c, 2), get[[]string](c, 3)
			for i, family := range families {
				key := recordAt{partition{family, numbers[i]}, offsets[i]}
				if _, there := c.session.d.tables.rejected[key]; there {
					return unique("rejected", key)
				}
				put(c, c.session.d.tables.rejected, key, verdicts[i])
			}
			return nil
		}},
		{"SELECT pg_notify($1, $2)", []uint32{text, text}, nil, "SELECT 1", func(c *call) error {
			c.session.notices = append(c.session.notices, get[string](c, 1))
			return nil
		}},
		{"SELECT family, partition, stream, sequence, hash, state, parked FROM streams WHERE stream = ANY($1)", []uint32{texts},
			[]uint32{text, int4, text, int8, bytea, text, boolean}, "SELECT %d", func(c *call) error {
				t := c.session.d.tables
				for _, id := range get[[]string](c, 0) {
					for _, p := range t.partitions() {
						if s, ok := t.streams[streamKey{p, id}]; ok {
							c.row(p.family, p.number, id, s.sequence, s.hash, orNil(s.state), s.parked)
						}
					}
				}
				return nil
			}},
		{"SELECT coalesce(bool_or(o.next < c.next), false)", []uint32{texts, int4s, int8s, oid, text}, []uint32{boolean, boolean, boolean}, "SELECT 1", func(c *call) error {
			families, numbers, nexts := get[[]string](c, 0), get[[]int32](c, 1), get[[]int64](c, 2)
			behind := false
			for i, family := range families {
				o := c.session.d.tables.offsets[partition{family, numbers[i]}]
				behind = behind || o != nil && o.next < nexts[i]
			}
			c.row(behind, get[uint32](c, 3) != tableOID, false)
			return nil
		}},
		{"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname", []uint32{text, int4}, []uint32{boolean}, "SELECT 1", func(c *call) error {
			name, self, found := get[string](c, 0), get[int32](c, 1), false
			for pid, s := range c.session.d.sessions {
				found = found || strings.HasPrefix(s.name, name) && pid != self
			}
			c.row(found)
			return nil
		}},
		{`SELECT family, partition, "offset", stream FROM parked`, nil, []uint32{text, int4, int8, text}, "SELECT 0", none},
		{`SELECT stream, sequence, event_type, family, partition, "offset", reason, count(*) OVER () FROM parked`, []uint32{text, int8, int8},
			[]uint32{text, int8, text, text, int4, int8, text, int8}, "SELECT 0", none},
		{"SELECT set_config('application_name', $1, false)", []uint32{text}, []uint32{text}, "SELECT 1", func(c *call) error {
			c.session.name = get[string](c, 0)
			c.row(c.session.name)
			return nil
		}},
		{"LISTEN ", nil, nil, "LISTEN", func(c *call) error {
			c.session.listening = true
			return nil
		}},
		{"SELECT o.next, coalesce(r.verdict, $4)", []uint32{text, int4, int8, text}, []uint32{int8, text}, "SELECT %d", func(c *call) error {
			t, p := c.session.d.tables, partition{get[string](c, 0), get[int32](c, 1)}
			if o := t.offsets[p]; o != nil {
				verdict, rejected := t.rejected[recordAt{p, get[int64](c, 2)}]
				if !rejected {
					verdict = get[string](c, 3)
				}
				c.row(o.next, verdict)
			}
			return nil
		}},
		{`SELECT o.next, r."offset", r.verdict`, []uint32{text, int4, int8, int8}, []uint32{int8, int8, text}, "SELECT %d", func(c *call) error {
			t, p := c.session.d.tables, partition{get[string](c, 0), get[int32](c, 1)}
			o := t.offsets[p]
			if o == nil {
				return nil
			}
			for at := get[int64](c, 2); at < get[int64](c, 3); at++ {
				if verdict, rejected := t.rejected[recordAt{p, at}]; rejected {
					c.row(o.next, at, verdict)
				}
			}
			if c.count == 0 {
				c.row(o.next, nil, nil)
			}
			return nil
		}},
		{"SELECT k.stream, k.family, k.command_id, s.sequence", []uint32{texts, texts, texts},
			[]uint32{text, text, text, int8, bytea, text, boolean, int8, text}, "SELECT %d", func(c *call) error {
				t := c.session.d.tables
				streams, families, commands := get[[]string](c, 0), get[[]string](c, 1), get[[]string](c, 2)
				for i, id := range streams {
					for _, p := range t.partitions() {
						s, ok := t.streams[streamKey{p, id}]
						if !ok || p.family != families[i] {
							continue
						}
						var sequence, digest any
						if prior, ran := t.commands[[2]string{id, commands[i]}]; ran && commands[i] != "" {
							sequence, digest = prior.sequence, prior.digest
						}
						c.row(id, families[i], commands[i], s.sequence, s.hash, orNil(s.state), s.parked, sequence, digest)
					}
				}
				return nil
			}},
		{"SELECT c.command_id, c.sequence, c.digest FROM unnest($2", []uint32{text, texts}, []uint32{text, int8, text}, "SELECT %d", func(c *call) error {
			for _, id := range get[[]string](c, 1) {
				if prior, ran := c.session.d.tables.commands[[2]string{get[string](c, 0), id}]; ran {
					c.row(id, prior.sequence, prior.digest)
				}
			}
			return nil
		}},
		{"SELECT started = pg_postmaster_start_time() FROM recovered", nil, []uint32{boolean}, "SELECT %d", func(c *call) error {
			if at := c.session.d.tables.recovered; !at.IsZero() {
				c.row(at.Equal(c.session.d.started))
			}
			return nil
		}},
		{"INSERT INTO recovered", nil, nil, "INSERT 0 1", func(c *call) error {
			t, before := c.session.d.tables, c.session.d.tables.recovered
			t.recovered = c.session.d.started
			c.done(func() { t.recovered = before })
			return nil
		}},
		{"SELECT pg_advisory_lock", nil, nil, "SELECT 1", func(c *call) error { return c.session.lock("recover") }},
		{"SELECT pg_advisory_unlock", nil, nil, "SELECT 1", func(c *call) error {
			c.session.unlock("recover")
			return nil
		}},
	}
	return append(append(all, leaseStatements()...), viewStatements()...)
}

func orNil(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// moveOffsets is the compare-and-set of projector.moveOffsets. It compares what the text
// says.
func moveOffsets(c *call) error {
	d := c.session.d
	families, numbers, expected, next := get[[]string](c, 0), get[[]int32](c, 1), get[[]int64](c, 2), get[[]int64](c, 3)
	last, facts, digests, sealings, epochs := get[[][]byte](c, 4), get[[]int64](c, 5), get[[][]byte](c, 6), get[[]string](c, 7), get[[]int64](c, 8)
	byOffset, byTable := strings.Contains(c.text, "o.next = u.expected"), strings.Contains(c.text, "o.tableoid = $")
	byEpoch := strings.Contains(c.text, "l.epoch = u.epoch")
	subscriber := get[string](c, 11)
	moved := int64(0)
	for i, family := range families {
		p := partition{family, numbers[i]}
		o, lease := d.tables.offsets[p], d.tables.leases[leaseKey{subscriber, p.number}]
		if o == nil || byOffset && o.next != expected[i] || byTable && get[uint32](c, 10) != tableOID || byEpoch && lease.epoch != epochs[i] {
			continue
		}
		put(c, d.tables.offsets, p, &offsetRow{o.topicID, next[i], bytes.Clone(last[i]), facts[i], bytes.Clone(digests[i]), sealings[i]})
		d.w.committed(p, lease, epochs[i], o.next, next[i])
		moved++
	}
	if moved != get[int64](c, 9) {
		d.w.counts.refusedCommits++
		return &sqlError{"22012", "division by zero"}
	}
	c.row(int32(1))
	return nil
}

func saveStreams(c *call) error {
	t := c.session.d.tables
	ids, families, numbers, sequences := get[[]string](c, 0), get[[]string](c, 1), get[[]int32](c, 2), get[[]int64](c, 3)
	hashes, states, parked := get[[][]byte](c, 4), get[[]*string](c, 5), get[[]bool](c, 6)
	for i, id := range ids {
		key := streamKey{partition{families[i], numbers[i]}, id}
		if _, there := t.streams[key]; there && !strings.Contains(c.text, "ON CONFLICT") {
			return unique("streams", key)
		}
		put(c, t.streams, key, streamRow{sequences[i], bytes.Clone(hashes[i]), states[i], parked[i]})
	}
	return nil
}
