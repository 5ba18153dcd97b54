package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"netsim/events"
)

// Report is what a verification of the log found.
type Report struct {
	Records     int64
	Facts       int64
	Bytes       int64 // total size of the values
	Rejected    map[events.Verdict]int64
	Streams     int
	Chains      int    // number of billing chains, at the end of the log
	Root        string // of the tree over the chains, hex
	Checkpoints int    // compared
	Losses      []AcceptedLoss
	Unreadable  map[string]int64 // facts of an unknown type or whose body is not JSON, by type
	Findings    []Finding
	// Covered is how many facts are before the last checkpoint. Later facts are
	// verified by their chains only.
	Covered int64
	// Joined names the checkpoint at which VerifyFrom joined; "" if the log was read
	// from its beginning. The records before the checkpoint, Before of them, were not
	// read: they count as Records and Facts, but not by verdict or type.
	Joined string
	Before int64
}

// Finding is a defect of the log.
type Finding struct {
	At   Where // of a record, or of a partition's end
	What string
}

func (f Finding) String() string {
	if f.At == (Where{}) {
		return f.What
	}
	return fmt.Sprintf("%s: %s", f.At, f.What)
}

// Expected is the position of a partition according to the read model.
type Expected Part

// published is a checkpoint in the log.
type published struct {
	at   Where
	name string
	note string
}

// verification is the state of Verify.
type verification struct {
	log      *Log
	keys     *ring
	moved    moved
	parts    []*partition
	report   Report
	expected map[*partition]Expected
	last     map[*partition]int64 // offsets before which the last valid checkpoint covers the partition
	newest   bool                 // the checkpoint that is compared is the last
}

// Verify reads the whole log up to its ends and judges every record. It compares
// the result with every checkpoint in the log and, unless readModel is nil, with
// the read model. It verifies the checkpoints' signatures with the verifier's key
// and the keys that successions prove from it. An error means that the log could
// not be read; its defects are in the report.
func Verify(ctx context.Context, log *Log, verifier string, readModel []Expected) (Report, error) {
	notes, err := log.checkpoints(ctx)
	if err != nil {
		return Report{}, err
	}
	m, err := log.history(ctx)
	if err != nil {
		return Report{}, err
	}
	v := newVerification(log, verifier, notes, readModel, m)
	err = v.run(ctx, notes, "")
	return v.report, err
}

// newVerification returns a verification that has read nothing yet.
func newVerification(log *Log, verifier string, notes []published, readModel []Expected, m moved) *verification {
	v := &verification{log: log, keys: log.ring(notes, verifier, m), moved: m, parts: log.open(), expected: map[*partition]Expected{}, last: map[*partition]int64{}}
	v.report.Rejected, v.report.Unreadable = map[events.Verdict]int64{}, map[string]int64{}
	for _, e := range readModel {
		if p := v.part(e.Family, e.Partition); p != nil && p.topic.ID == e.TopicID {
			v.expected[p] = e
			continue
		}
		v.find(Where{Topic: string(e.Family), Partition: e.Partition}, "the read model was made from another topic, id %s", e.TopicID)
	}
	return v
}

// run compares the log with checkpoints, the first of which follows the note previous,
// and judges it up to its ends.
func (v *verification) run(ctx context.Context, notes []published, previous string) error {
	for i, n := range notes {
		v.newest = i == len(notes)-1
		if err := v.compare(ctx, n, previous); err != nil {
			return err
		}
		previous = n.note
	}
	for _, p := range v.parts {
		if err := v.to(ctx, p, p.topic.Ends[p.number]); err != nil {
			return err
		}
	}
	t, err := v.billing()
	if err != nil {
		return err
	}
	root, err := t.root()
	if err != nil {
		return err
	}
	v.report.Chains, v.report.Root = len(t.chains), fmt.Sprintf("%x", root[:])
	v.sum()
	v.report.Losses, _, err = v.log.Losses(ctx, "")
	return err
}

// checkpoints returns the checkpoints in the log, in the order of the log.
func (l *Log) checkpoints(ctx context.Context) (notes []published, err error) {
	for _, p := range l.open(events.Checkpoints) {
		err := p.advance(ctx, p.topic.Ends[p.number], func(f *Fact) error {
			data, err := events.Decode(f.Type, f.Value)
			if d, ok := data.(events.CheckpointPublished); ok && err == nil {
				notes = append(notes, published{f.Where, d.Name, d.Note})
			}
			return nil
		})
		if err != nil && !errors.Is(err, errShort) {
			return nil, err
		}
	}
	return notes, nil
}

func notesOf(all []published) []string {
	notes := make([]string, len(all))
	for i, n := range all {
		notes[i] = n.note
	}
	return notes
}

func (v *verification) find(at Where, format string, args ...any) {
	v.report.Findings = append(v.report.Findings, Finding{at, fmt.Sprintf(format, args...)})
}

func (v *verification) part(family events.Family, number int32) *partition {
	i := slices.IndexFunc(v.parts, func(p *partition) bool { return p.topic.Family == family && p.number == number })
	if i < 0 {
		return nil
	}
	return v.parts[i]
}

// compare advances every partition to a checkpoint's position and compares them
// with it.
func (v *verification) compare(ctx context.Context, n published, previous string) error {
	c, err := v.keys.open(n.note)
	if err != nil {
		v.find(n.at, "checkpoint %s: %v", n.name, err)
		return nil
	}
	v.report.Checkpoints++
	found := len(v.report.Findings)
	v.follows(n, &c, previous)
	for _, want := range c.Parts {
		if err := v.comparePart(ctx, &c, want); err != nil {
			return err
		}
	}
	t, err := v.billing()
	if err != nil {
		return err
	}
	root, err := t.root()
	if err != nil {
		return err
	}
	if root != c.Root || int64(len(t.chains)) != c.Chains {
		v.find(n.at, "checkpoint %s has %d billing chains with root %x, the log has %d with root %x",
			c.Name, c.Chains, c.Root[:], len(t.chains), root[:])
	}
	if v.newest && len(v.report.Findings) == found {
		if err := v.compareHeads(n.at, &c); err != nil {
			return err
		}
	}
	if len(v.report.Findings) == found {
		v.cover()
	}
	return nil
}

// follows compares a checkpoint with the name under which it was published and with the
// note before it in the log.
func (v *verification) follows(n published, c *Checkpoint, previous string) {
	if c.Name != n.name {
		v.find(n.at, "checkpoint %s is published as %s", c.Name, n.name)
	}
	if c.Previous != HashOf(previous) {
		v.find(n.at, "checkpoint %s does not follow the one before it in the log: one was removed, added or changed", c.Name)
	}
}

// cover records that a valid checkpoint covers everything that is read. The records
// whose predecessor is missing here were missing when it was signed.
func (v *verification) cover() {
	v.report.Covered = 0
	for _, p := range v.parts {
		v.last[p] = p.next
		v.report.Covered += p.facts
		clear(p.missing)
	}
}

// billing returns the tree over the chains of billing as read so far.
func (v *verification) billing() (*tree, error) {
	var parts []*partition
	for _, p := range v.parts {
		if p.topic.Family == events.Billing {
			parts = append(parts, p)
		}
	}
	return newTree(chains(parts))
}

func (v *verification) comparePart(ctx context.Context, c *Checkpoint, want Part) error {
	p := v.part(want.Family, want.Partition)
	if p == nil || !v.moved.isTopic(p.topic, want.TopicID) {
		v.find(Where{Topic: string(want.Family), Partition: want.Partition},
			"checkpoint %s is of another topic, id %s", c.Name, want.TopicID)
		return nil
	}
	at := Where{Topic: p.topic.Name, Partition: p.number, Offset: want.Next}
	if p.next > want.Next {
		v.find(at, "checkpoint %s is behind the one before it, which is at %d", c.Name, p.next)
		return nil
	}
	if err := v.to(ctx, p, want.Next); err != nil {
		return err
	}
	switch {
	case p.next < want.Next:
		v.find(at, "the log lost its tail: it ends at %d, checkpoint %s has seen records before %d", p.topic.Ends[p.number], c.Name, want.Next)
	case p.digest != want.Digest || p.facts != want.Facts || p.rejected != want.Rejected:
		v.find(at, "checkpoint %s has seen other records before this offset: %d facts, %d rejected, digest %x; the log has %d, %d and %x",
			c.Name, want.Facts, want.Rejected, want.Digest[:4], p.facts, p.rejected, p.digest[:4])
	}
	return nil
}

// to advances a partition to an offset, at most to its end. On the way it
// compares the partition with the read model, at the read model's position.
func (v *verification) to(ctx context.Context, p *partition, offset int64) error {
	offset = min(offset, p.topic.Ends[p.number])
	if e, ok := v.expected[p]; ok && p.next <= e.Next && e.Next <= p.topic.Ends[p.number] && e.Next <= offset {
		if err := p.advance(ctx, e.Next, nil); err != nil {
			return err
		}
		delete(v.expected, p)
		if p.facts != e.Facts || p.digest != e.Digest {
			v.find(Where{Topic: p.topic.Name, Partition: p.number, Offset: e.Next},
				"the read model was made from other facts: %d, digest %x; the log has %d, %x", e.Facts, e.Digest[:4], p.facts, p.digest[:4])
		}
	}
	return p.advance(ctx, offset, nil)
}

// sum fills in the report's counts and reports missing records.
func (v *verification) sum() {
	for _, p := range v.parts {
		v.report.Records += p.facts + p.rejected
		v.report.Facts += p.facts
		v.report.Bytes += p.bytes
		v.report.Streams += len(p.heads)
		for verdict, n := range p.verdicts {
			v.report.Rejected[verdict] += n
		}
		for eventType, n := range p.unreadable {
			v.report.Unreadable[eventType] += n
		}
		for _, stream := range slices.Sorted(maps.Keys(p.missing)) {
			o, ends := p.missing[stream], int64(0)
			if head := p.heads[stream]; head != nil {
				ends = head.Sequence
			}
			if o.at.Offset >= v.last[p] { // earlier ones were missing when the checkpoint was signed
				v.find(o.at, "%s: the event before sequence %d is missing; the stream ends at %d",
					o.verdict, o.sequence, ends)
			}
		}
		if e, left := v.expected[p]; left {
			v.find(Where{Topic: p.topic.Name, Partition: p.number, Offset: p.next},
				"the log lost its tail: the read model has seen records before %d", e.Next)
		}
	}
}
