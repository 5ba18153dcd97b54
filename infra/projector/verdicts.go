package projector

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// saveVerdicts queues the command ids of facts, and the rejected and parked
// records.
func (p *Projector) saveVerdicts(writes *pgx.Batch, batch []chunk) {
	var commands []*commandRow
	var rejected []*rejectedRow
	var parked []*parkedRow
	for _, part := range batch {
		for i := range part.items {
			it := &part.items[i]
			at := recordAt{string(part.at.family), part.at.partition, it.record.Offset}
			if it.verdict != events.Accepted {
				rejected = append(rejected, &rejectedRow{at, string(it.verdict), it.frame.Stream, it.frame.ID})
				continue
			}
			if it.parkReason != "" {
				parked = append(parked, &parkedRow{at, it.frame.Stream, it.frame.Sequence, it.frame.Type, it.parkReason})
			}
			if it.frame.CommandID != "" {
				commands = append(commands, &commandRow{it.frame.Stream, it.frame.CommandID, it.frame.Sequence, it.frame.CommandDigest})
			}
		}
	}
	commandColumns.Insert(writes, p.ident()+".command_ids", commands, "ON CONFLICT DO NOTHING")
	rejectedColumns.Insert(writes, p.ident()+".rejected", rejected, "")
	parkedColumns.Insert(writes, p.ident()+".parked", parked, "")
}

// A notice is the payload of a notification: how far the partitions are judged,
// and which offsets were rejected since the previous notice:
//
//	simulations/0:118:115=stale,116=gap;billing/1:40:
//
// PostgreSQL takes 8,000 bytes. When the lists are longer, each of them is "?"
// and the watchers read the table.
const maxNotice = 7500

// channel is the notification channel of a read model.
func channel(schema string) string { return "netsim_" + schema }

func notice(batch []chunk, next map[*partitionState]position) string {
	rejected := map[*partitionState]*strings.Builder{}
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

// judgedTo is the part of a notice about one partition.
type judgedTo struct {
	family    events.Family
	partition int32
	next      int64
	rejected  map[int64]events.Verdict
	ask       bool // the rejected offsets are in the table
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
