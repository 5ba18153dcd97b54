package projector

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// maxRejected bounds the rejected records of a partition that a Watcher keeps.
const maxRejected = 1024

// rejections is what notices have said about the records [from, to) of a
// partition. A record that is not listed was accepted.
type rejections struct {
	from, to int64
	verdicts map[int64]events.Verdict
}

// add adds what a notice says. The known records stay one range. If the notice
// does not continue it, or would make its list too long, the range starts over
// with the notice. If the notice's own list is too long or was left out (ask),
// the range becomes empty and starts after the notice.
func (r *rejections) add(notice judgedTo) {
	if notice.ask || len(notice.rejected) > maxRejected {
		*r = rejections{from: notice.next, to: notice.next}
		return
	}
	if notice.from != r.to || len(r.verdicts)+len(notice.rejected) > maxRejected {
		*r = rejections{from: notice.from}
	}
	r.to = notice.next
	for offset, verdict := range notice.rejected {
		if r.verdicts == nil {
			r.verdicts = map[int64]events.Verdict{}
		}
		r.verdicts[offset] = verdict
	}
}

// verdict returns the verdict of a judged record, "" if no notice has said it.
func (r *rejections) verdict(offset int64) events.Verdict {
	if offset < r.from || offset >= r.to {
		return ""
	}
	if other, rejected := r.verdicts[offset]; rejected {
		return other
	}
	return events.Accepted
}

// Rejected returns the records of the partition in [from, to) that are judged
// and are not facts, by offset. It answers for recent records from what notices
// said, and else with one query.
func (w *Watcher) Rejected(ctx context.Context, family events.Family, partition int32, from, to int64) (map[int64]events.Verdict, error) {
	found := map[int64]events.Verdict{}
	w.mu.Lock()
	known := &w.part(partitionKey{family, partition}).rejections
	if known.from <= from && to <= known.to {
		for offset, verdict := range known.verdicts {
			if offset >= from && offset < to {
				found[offset] = verdict
			}
		}
		w.mu.Unlock()
		return found, nil
	}
	w.mu.Unlock()
	// One query reads the offset and the rows in one snapshot: a lost read model
	// that is being rebuilt can have fewer rows than this watcher has seen, and
	// its offset shows that.
	rows, err := w.pool.Query(ctx, `
		SELECT o.next, r."offset", r.verdict FROM offsets AS o
		LEFT JOIN rejected AS r ON r.family = o.family AND r.partition = o.partition AND r."offset" >= $3 AND r."offset" < $4
		WHERE o.family = $1 AND o.partition = $2`, family, partition, from, to)
	if err != nil {
		return nil, fmt.Errorf("read the rejected records: %w", err)
	}
	var next int64
	var offset *int64
	var verdict *events.Verdict
	_, err = pgx.ForEachRow(rows, []any{&next, &offset, &verdict}, func() error {
		if offset != nil {
			found[*offset] = *verdict
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the rejected records: %w", err)
	}
	if next < to {
		return nil, fmt.Errorf("read the rejected records: the read model has %s/%d up to %d, not %d", family, partition, next, to)
	}
	return found, nil
}
