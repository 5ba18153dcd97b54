package audit

import (
	"context"
	"fmt"
	"slices"

	"netsim/events"
)

// VerifyFrom is Verify for an auditor who holds a checkpoint of the log and trusts the
// log before it: it joins at this checkpoint with the heads that the checkpoint names,
// and judges the records from there on, with the same verdicts as Verify. It reads the
// topic of the checkpoints from its beginning. If it cannot join, because the
// checkpoint is not in the log or its heads are missing or not the signed ones, its
// error wraps ErrJoin.
func VerifyFrom(ctx context.Context, log *Log, verifier string, readModel []Expected, note string, heads Heads) (Report, error) {
	notes, err := log.checkpoints(ctx)
	if err != nil {
		return Report{}, err
	}
	m, err := log.history(ctx)
	if err != nil {
		return Report{}, err
	}
	v := newVerification(log, verifier, notes, readModel, m)
	at := slices.IndexFunc(notes, func(n published) bool { return n.note == note })
	if at < 0 {
		return v.report, v.absent(note)
	}
	previous := ""
	var c Checkpoint
	for _, n := range notes[:at+1] {
		if c, err = v.keys.open(n.note); err != nil {
			v.find(n.at, "checkpoint %s: %v", n.name, err)
		} else {
			v.follows(n, &c, previous)
		}
		previous = n.note
	}
	if err != nil {
		return v.report, fmt.Errorf("%w at checkpoint %s: %w", ErrJoin, notes[at].name, err)
	}
	if err := v.join(ctx, c, heads); err != nil {
		return v.report, err
	}
	err = v.run(ctx, notes[at+1:], note)
	return v.report, err
}

// absent returns the error for a note that is not in the log.
func (v *verification) absent(note string) error {
	c, err := v.keys.openAny(note)
	if err != nil {
		return fmt.Errorf("%w at the note that you hold: %w", ErrJoin, err)
	}
	return fmt.Errorf("%w: the log has no checkpoint %s of %s, which you hold: it is another log, or its end was cut off",
		ErrJoin, c.Name, c.Time.Format("2006-01-02 15:04:05"))
}

// join moves every partition to a checkpoint's position, with its heads. A partition
// that the checkpoint does not have, such as that of a newer family, stays at offset 0.
func (v *verification) join(ctx context.Context, c Checkpoint, heads Heads) error {
	v.report.Joined = c.Name
	found := len(v.report.Findings)
	err := c.EachHeads(ctx, heads, func(h HeadsOf) (func(string, events.Head), error) {
		p := v.part(h.Family, h.Partition)
		if p == nil || !v.moved.isTopic(p.topic, h.TopicID) {
			return nil, fmt.Errorf("%w at checkpoint %s: it is of another topic than %s/%d, id %s", ErrJoin, c.Name, h.Family, h.Partition, h.TopicID)
		}
		if count := len(p.topic.Ends); int(h.Heads.Count) != count {
			return nil, fmt.Errorf("%w at checkpoint %s: its heads are of %d partitions of %s, the topic has %d", ErrJoin, c.Name, h.Heads.Count, p.topic.Name, count)
		}
		if e, ok := v.expected[p]; ok && e.Next < h.Next {
			return nil, fmt.Errorf("%w at checkpoint %s: the read model is at offset %d of %s/%d, before the checkpoint's %d, and cannot be compared; join at an earlier checkpoint, or verify the log only",
				ErrJoin, c.Name, e.Next, p.topic.Name, p.number, h.Next)
		}
		p.join(h)
		v.report.Before += p.next
		if end := p.topic.Ends[p.number]; end < h.Next {
			v.find(Where{Topic: p.topic.Name, Partition: p.number, Offset: h.Next},
				"the log lost its tail: it ends at %d, checkpoint %s has seen records before %d", end, c.Name, h.Next)
		}
		return func(stream string, head events.Head) { p.heads[stream] = &head }, nil
	})
	if err != nil {
		return err
	}
	v.report.Checkpoints++
	if len(v.report.Findings) == found {
		v.cover()
	}
	return nil
}

// join moves a partition to its position in a checkpoint.
func (p *partition) join(h HeadsOf) {
	p.next, p.facts, p.rejected, p.digest = h.Next, h.Facts, h.Rejected, h.Digest
	p.sealing = h.Heads.Sealing
	p.heads = make(map[string]*events.Head, min(h.Heads.Streams, h.Facts))
}
