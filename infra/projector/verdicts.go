package projector

import (
	"fmt"
	"strconv"
	"strings"

	"netsim/events"
	"netsim/infra/columns"
)

// saveVerdicts queues the positions and command ids of facts, and the rejected and
// parked records.
func (p *Projector) saveVerdicts(writes *columns.Writes, batch []chunk) {
	var commands []*commandRow
	facts := make([]*factRow, 0, countRecords(batch))
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
			facts = append(facts, &factRow{
				it.frame.Stream, at.Family, at.Partition, it.frame.Sequence, at.Offset, int32(len(it.record.Value)), it.frame.Time, it.frame.CorrelationID,
			})
			if it.parkReason != "" {
				parked = append(parked, &parkedRow{at, it.frame.Stream, it.frame.Sequence, it.frame.Type, it.parkReason})
			}
			if it.frame.CommandID != "" {
				commands = append(commands, &commandRow{it.frame.Stream, it.frame.CommandID, it.frame.Sequence, it.frame.CommandDigest})
			}
		}
	}
	factColumns.Begin(writes, p.table("facts"), facts)
	commandColumns.Upsert(writes, p.table("command_ids"), commands, nil, "ON CONFLICT DO NOTHING")
	rejectedColumns.Begin(writes, p.table("rejected"), rejected)
	parkedColumns.Begin(writes, p.table("parked"), parked)
}

// judgedTo is how far a batch has judged a partition, and what it rejected there.
type judgedTo struct {
	family    events.Family
	partition int32
	from      int64 // the first offset that the list covers
	next      int64
	rejected  map[int64]events.Verdict
	ask       bool // the rejected offsets are in the table
}

// verdictsOf returns the verdicts of a batch, by partition.
func verdictsOf(batch []chunk, next map[*partitionState]position) []judgedTo {
	rejected := map[*partitionState]map[int64]events.Verdict{}
	for _, part := range batch {
		for i := range part.items {
			if it := &part.items[i]; it.verdict != events.Accepted {
				if rejected[part.at] == nil {
					rejected[part.at] = map[int64]events.Verdict{}
				}
				rejected[part.at][it.record.Offset] = it.verdict
			}
		}
	}
	all := make([]judgedTo, 0, len(next))
	for at, to := range next {
		all = append(all, judgedTo{family: at.family, partition: at.partition, from: at.next, next: to.next, rejected: rejected[at]})
	}
	return all
}

// channel is the notification channel of a read model.
func channel(schema string) string { return "netsim_" + schema }

// maxNotice bounds a notice, in bytes. PostgreSQL takes 8,000.
const maxNotice = 7500

// notice is the payload of a notification: how far the partitions are judged, and
// which offsets the batch rejected:
//
//	simulations/0:112-118:115=stale,116=gap;billing/1:39-40:
//
// When the lists are too long together, "?" replaces each that is not empty, and the
// watchers read the table.
func notice(all []judgedTo) string {
	size := 0
	for _, to := range all {
		size += 64 + 40*len(to.rejected)
	}
	var out strings.Builder
	for i, to := range all {
		if i > 0 {
			out.WriteByte(';')
		}
		fmt.Fprintf(&out, "%s/%d:%d-%d:", to.family, to.partition, to.from, to.next)
		if len(to.rejected) > 0 && size > maxNotice {
			out.WriteByte('?')
			continue
		}
		separator := ""
		for offset, verdict := range to.rejected {
			fmt.Fprintf(&out, "%s%d=%s", separator, offset, verdict)
			separator = ","
		}
	}
	return out.String()
}

// supersededMark precedes the notices of a superseded read model.
const supersededMark = "+"

func readNotice(text string) (out []judgedTo, superseded bool, err error) {
	text, superseded = strings.CutPrefix(text, supersededMark)
	for _, part := range strings.Split(text, ";") {
		fields := strings.Split(part, ":")
		if len(fields) != 3 {
			return nil, false, fmt.Errorf("notice %q: not family/partition:from-next:rejected", part)
		}
		family, number, _ := strings.Cut(fields[0], "/")
		partition, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return nil, false, fmt.Errorf("notice %q: %w", part, err)
		}
		to := judgedTo{family: events.Family(family), partition: int32(partition), ask: fields[2] == "?"}
		from, next, _ := strings.Cut(fields[1], "-")
		if to.from, err = strconv.ParseInt(from, 10, 64); err != nil {
			return nil, false, fmt.Errorf("notice %q: %w", part, err)
		}
		if to.next, err = strconv.ParseInt(next, 10, 64); err != nil {
			return nil, false, fmt.Errorf("notice %q: %w", part, err)
		}
		if fields[2] != "" && !to.ask {
			to.rejected = map[int64]events.Verdict{}
			for _, one := range strings.Split(fields[2], ",") {
				offset, verdict, _ := strings.Cut(one, "=")
				at, err := strconv.ParseInt(offset, 10, 64)
				if err != nil {
					return nil, false, fmt.Errorf("notice %q: %w", part, err)
				}
				to.rejected[at] = events.Verdict(verdict)
			}
		}
		out = append(out, to)
	}
	return out, superseded, nil
}
