package projector

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// saveVerdicts queues the command ids of facts, and what was rejected or
// parked.
func (p *Projector) saveVerdicts(writes *pgx.Batch, batch []chunk) {
	var commands, rejected, parked []placed
	for _, part := range batch {
		for i := range part.items {
			it := placed{&part.items[i], part.at}
			if it.verdict != events.Accepted {
				rejected = append(rejected, it)
				continue
			}
			if it.poison != "" {
				parked = append(parked, it)
			}
			if it.frame.CommandID != "" {
				commands = append(commands, it)
			}
		}
	}
	if len(commands) > 0 {
		writes.Queue(fmt.Sprintf(`
			INSERT INTO %s.command_ids (stream, command_id, sequence, digest)
			SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) ON CONFLICT DO NOTHING`, p.ident()),
			column(commands, func(it placed) string { return it.frame.Stream }),
			column(commands, func(it placed) string { return it.frame.CommandID }),
			column(commands, func(it placed) int64 { return it.frame.Sequence }),
			column(commands, func(it placed) string { return it.frame.CommandDigest }))
	}
	if len(rejected) > 0 {
		writes.Queue(fmt.Sprintf(`
			INSERT INTO %s.rejected (family, partition, "offset", verdict, stream, event_id)
			SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[], $4::text[], $5::text[], $6::text[])`, p.ident()),
			column(rejected, placed.family), column(rejected, placed.partition), column(rejected, placed.offset),
			column(rejected, func(it placed) string { return string(it.verdict) }),
			column(rejected, func(it placed) string { return it.frame.Stream }),
			column(rejected, func(it placed) string { return it.frame.ID }))
	}
	if len(parked) > 0 {
		writes.Queue(fmt.Sprintf(`
			INSERT INTO %s.parked (family, partition, "offset", stream, sequence, event_type, reason)
			SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::text[])`, p.ident()),
			column(parked, placed.family), column(parked, placed.partition), column(parked, placed.offset),
			column(parked, func(it placed) string { return it.frame.Stream }),
			column(parked, func(it placed) int64 { return it.frame.Sequence }),
			column(parked, func(it placed) string { return it.frame.Type }),
			column(parked, func(it placed) string { return it.poison }))
	}
}

// placed is an item in its partition.
type placed struct {
	*item
	at *place
}

func (it placed) family() string   { return string(it.at.family) }
func (it placed) partition() int32 { return it.at.partition }
func (it placed) offset() int64    { return it.record.Offset }

func column[R, T any](rows []R, value func(R) T) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = value(r)
	}
	return out
}

// A notice tells the waiting handlers how far the partitions are judged and
// which offsets were rejected since the notice before:
//
//	simulations/0:118:115=stale,116=gap;billing/1:40:
//
// PostgreSQL takes 8,000 bytes; when there is more to tell, the list of a
// partition is "?" and whoever waits looks into the table.
const maxNotice = 7500

// channel is the notification channel of a read model.
func channel(schema string) string { return "netsim_" + schema }

func notice(batch []chunk, next map[*place]position) string {
	rejected := map[*place]*strings.Builder{}
	size := 0
	for _, part := range batch {
		for i := range part.items {
			if it := &part.items[i]; it.verdict != events.Accepted {
				b := rejected[part.at]
				if b == nil {
					b = &strings.Builder{}
					rejected[part.at] = b
				}
				fmt.Fprintf(b, "%d=%s,", it.record.Offset, it.verdict)
				size += 20
			}
		}
	}
	var out strings.Builder
	for at, to := range next {
		if out.Len() > 0 {
			out.WriteByte(';')
		}
		fmt.Fprintf(&out, "%s/%d:%d:", at.family, at.partition, to.next)
		switch list := rejected[at]; {
		case list == nil:
		case size > maxNotice-64*len(next):
			out.WriteByte('?')
		default:
			out.WriteString(strings.TrimSuffix(list.String(), ","))
		}
	}
	return out.String()
}

// judgedTo is one partition's part of a notice.
type judgedTo struct {
	family    events.Family
	partition int32
	next      int64
	rejected  map[int64]events.Verdict
	ask       bool // the table has what was rejected
}

func readNotice(text string) ([]judgedTo, error) {
	var out []judgedTo
	for _, part := range strings.Split(text, ";") {
		fields := strings.Split(part, ":")
		if len(fields) != 3 {
			return nil, fmt.Errorf("notice %q: not family/partition:next:rejected", part)
		}
		family, number, _ := strings.Cut(fields[0], "/")
		partition, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("notice %q: %w", part, err)
		}
		to := judgedTo{family: events.Family(family), partition: int32(partition), ask: fields[2] == "?"}
		if to.next, err = strconv.ParseInt(fields[1], 10, 64); err != nil {
			return nil, fmt.Errorf("notice %q: %w", part, err)
		}
		if fields[2] != "" && !to.ask {
			to.rejected = map[int64]events.Verdict{}
			for _, one := range strings.Split(fields[2], ",") {
				offset, verdict, _ := strings.Cut(one, "=")
				at, err := strconv.ParseInt(offset, 10, 64)
				if err != nil {
					return nil, fmt.Errorf("notice %q: %w", part, err)
				}
				to.rejected[at] = events.Verdict(verdict)
			}
		}
		out = append(out, to)
	}
	return out, nil
}
