//go:build faketime

package dst

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
)

// leastFacts is how many facts a stream gets at least while a command loses all its
// attempts. A fact costs a writer of one process up to three: the record that was under
// way, and two decisions on a tip that another command drops.
const leastFacts = 4

// truth is what the log says: a second reader of it, which applies the rule of
// docs/log.md to each record at the instant at which the broker stores it.
type truth struct {
	w          *world
	streams    map[string]*history
	order      []*history
	partitions map[partition]*progress
	mirrored   int // facts that a reaction has answered
	sources    int // facts that a reaction has to answer
}

// history is the facts of a stream.
type history struct {
	id    string
	facts []fact
	floor int64 // the last fact that an operation which has ended has shown
	byID  map[string]int64
	state commands.Workspace
}

type fact struct {
	events.Frame
	hash events.Hash
	name string
	at   events.Position
}

// progress is a partition of the log.
type progress struct {
	digest   events.Digest
	facts    int64
	rejected map[int64]bool
	holder   int64 // the largest epoch that has committed
}

func newTruth(w *world) *truth {
	return &truth{w: w, streams: map[string]*history{}, partitions: map[partition]*progress{}}
}

func (t *truth) history(id string) *history {
	h := t.streams[id]
	if h == nil {
		h = &history{id: id, byID: map[string]int64{}}
		t.streams[id], t.order = h, append(t.order, h)
	}
	return h
}

func (t *truth) partition(p partition) *progress {
	if t.partitions[p] == nil {
		t.partitions[p] = &progress{rejected: map[int64]bool{}}
	}
	return t.partitions[p]
}

// appended reads a batch that the broker has stored.
func (t *truth) appended(topic string, number int32, base int64, stored []byte) {
	family, ok := strings.CutPrefix(topic, "netsim.")
	if !ok || family == "poison" {
		t.w.fail("a record in %s", topic)
		return
	}
	p := t.partition(partition{family, number})
	rest, offset := stored[61:], base
	for len(rest) > 0 {
		length, n := binary.Varint(rest)
		var r kmsg.Record
		if err := r.ReadFrom(rest[:n+int(length)]); err != nil {
			t.w.fail("a record that cannot be read: %v", err)
			return
		}
		rest = rest[n+int(length):]
		m := events.Message{Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			m.Headers = append(m.Headers, events.Header{Key: h.Key, Value: h.Value})
		}
		t.record(p, events.Position{Family: events.Family(family), Partition: number, Offset: offset}, &m)
		offset++
	}
}

func (t *truth) record(p *progress, at events.Position, m *events.Message) {
	t.w.counts.Records++
	frame, hash, err := events.ReadFrame(m)
	if err != nil {
		t.w.fail("a frame that cannot be read: %v", err)
		return
	}
	h := t.history(frame.Stream)
	var head events.Hash
	if n := len(h.facts); n > 0 {
		head = h.facts[n-1].hash
	}
	if frame.Sequence != int64(len(h.facts))+1 || frame.PreviousHash != head {
		p.rejected[at.Offset] = true
		t.w.counts.Rejected++
		t.w.event("record %s/%d@%d of %s is no fact", at.Family, at.Partition, at.Offset, frame.Stream)
		return
	}
	data, err := events.Decode(frame.Type, m.Value)
	if err != nil {
		t.w.fail("an event that cannot be read: %v", err)
		return
	}
	if other, ran := h.byID[frame.CommandID]; ran {
		t.w.fail("command %s is fact %d and fact %d of %s", frame.CommandID, other, frame.Sequence, frame.Stream)
		return
	}
	name, _ := nameIn(data)
	h.facts = append(h.facts, fact{frame, hash, name, at})
	h.byID[frame.CommandID] = frame.Sequence
	h.state.Evolve(events.Event{Frame: frame, Hash: hash, Data: data})
	p.facts++
	p.digest = p.digest.Add(hash)
	t.w.event("fact %s/%d@%d is %s %d", at.Family, at.Partition, at.Offset, frame.Stream, frame.Sequence)
	if frame.CauseID == "" {
		t.sources++
	} else {
		t.mirrored++
	}
}

// committed checks a commit of the projector: one holder of an epoch at a time, and
// never one before another.
func (w *world) committed(at partition, lease leaseRow, epoch, from, next int64) {
	p := w.truth.partition(at)
	if epoch < p.holder {
		w.fail("a holder with epoch %d of %v commits after one with epoch %d", epoch, at, p.holder)
	}
	if lease.epoch != epoch {
		w.fail("a holder with epoch %d of %v commits, the lease has epoch %d", epoch, at, lease.epoch)
	}
	p.holder = epoch
	if next <= from {
		w.fail("%v moves from %d to %d", at, from, next)
	}
}

// accepted checks a command that was acknowledged.
func (w *world) accepted(h *history, commandID string, floor int64, r handle.Result) {
	sequence, is := h.byID[commandID]
	if !is {
		w.fail("command %s of %s was acknowledged and is not a fact", commandID, h.id)
		return
	}
	if sequence <= floor {
		w.fail("command %s of %s is fact %d, and began after fact %d was shown", commandID, h.id, sequence, floor)
		return
	}
	h.floor = max(h.floor, sequence)
	f := &h.facts[sequence-1]
	if r.Event == nil {
		return // repeated
	}
	if r.Event.Sequence != sequence || r.Event.ID != f.ID || r.At != f.at {
		w.fail("command %s of %s was answered with fact %d at %v, it is %d at %v", commandID, h.id, r.Event.Sequence, r.At, sequence, f.at)
	}
	if state, ok := r.State.(*commands.Workspace); ok && (state.Name != f.name || state.Version != sequence) {
		w.fail("command %s of %s was answered with name %q version %d, fact %d has %q", commandID, h.id, state.Name, state.Version, sequence, f.name)
	}
}

// contended checks a refusal because of other writers: a command loses an attempt only
// to a fact, so it gives up only after several facts of the stream.
func (w *world) contended(h *history, before int, err error) {
	if !fault.Is(err, fault.Conflict) {
		return
	}
	facts := len(h.facts) - before
	w.event("a command on %s gives up after %d facts", h.id, facts)
	if facts < leastFacts {
		w.fail("a command on %s lost all attempts against other writers, in which the stream got %d facts", h.id, facts)
	}
}

// shown checks what a read has shown.
func (w *world) shown(h *history, floor, sequence int64, name string, changes int64) {
	switch {
	case sequence < floor:
		w.fail("a read of %s shows fact %d, and began after fact %d was shown", h.id, sequence, floor)
	case sequence > int64(len(h.facts)):
		w.fail("a read of %s shows fact %d of %d", h.id, sequence, len(h.facts))
	case sequence > 0 && name != h.facts[sequence-1].name:
		w.fail("a read of %s shows %q as fact %d, which is %q", h.id, name, sequence, h.facts[sequence-1].name)
	case changes != sequence:
		w.fail("a read of %s shows %d changes, and fact %d", h.id, changes, sequence)
	}
	h.floor = max(h.floor, sequence)
}

// drained reports what is not done yet; "" when the read model has all records and the
// reactions have answered all facts.
func (w *world) drained() string {
	for _, p := range w.db.tables.partitions() {
		end := w.broker.partition("netsim."+p.family, p.number).next
		if next := w.db.tables.offsets[p].next; next < end {
			return "the read model has " + p.family + "/" + strconv.Itoa(int(p.number)) + " up to " + strconv.FormatInt(next, 10) + " of " + strconv.FormatInt(end, 10)
		}
	}
	if w.truth.mirrored < w.truth.sources {
		return "reactions have answered " + strconv.Itoa(w.truth.mirrored) + " of " + strconv.Itoa(w.truth.sources) + " facts"
	}
	return ""
}

// check compares the read model with the log, once everything is drained.
func (w *world) check() {
	t, rows := w.truth, w.db.tables
	for _, p := range rows.partitions() {
		o, want := rows.offsets[p], t.partition(p)
		if o.facts != want.facts || !bytes.Equal(o.digest, want.digest[:]) {
			w.fail("the read model has %d facts of %v, the log has %d, or other ones", o.facts, p, want.facts)
		}
		for offset := range o.next {
			if _, rejected := rows.rejected[recordAt{p, offset}]; rejected != want.rejected[offset] {
				w.fail("record %v@%d: the read model says rejected: %v", p, offset, rejected)
			}
		}
	}
	if len(rows.parked) > 0 {
		w.fail("%d facts are parked", len(rows.parked))
	}
	found := map[string]streamRow{}
	for key, s := range rows.streams {
		if _, twice := found[key.stream]; twice {
			w.fail("%s is in two partitions", key.stream)
		}
		found[key.stream] = s
	}
	streams := 0
	for _, h := range t.order {
		if len(h.facts) > 0 {
			streams++
			w.checkStream(h, found[h.id])
		}
	}
	if len(found) != streams {
		w.fail("the read model has %d streams, the log %d", len(found), streams)
	}
	if t.mirrored != t.sources {
		w.fail("%d facts were answered %d times", t.sources, t.mirrored)
	}
}

func (w *world) checkStream(h *history, s streamRow) {
	last := h.facts[len(h.facts)-1]
	if s.sequence != last.Sequence || !bytes.Equal(s.hash, last.hash[:]) {
		w.fail("the head of %s is %d, the log has %d, or another one", h.id, s.sequence, last.Sequence)
	}
	state, err := json.Marshal(&h.state)
	if err != nil || s.state == nil || *s.state != string(state) {
		w.fail("the state of %s is %v, the log makes it %s", h.id, s.state, state)
	}
	if v := w.db.tables.views[h.id]; v != (viewRow{last.Sequence, last.name, last.Sequence}) {
		w.fail("the view of %s is %v, the log makes it %d %q", h.id, v, last.Sequence, last.name)
	}
	for id, sequence := range h.byID {
		if row, there := w.db.tables.commands[[2]string{h.id, id}]; !there || row.sequence != sequence {
			w.fail("command %s of %s is fact %d, the read model has %v", id, h.id, sequence, row)
		}
	}
}
