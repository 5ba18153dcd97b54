package timeline

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// The fields of Perfetto's messages that a trace uses, as keys of the protocol buffers'
// wire format: field<<3 | type. Source: protos/perfetto/trace of Perfetto.
const (
	tracePacket = 1<<3 | 2

	packetTimestamp  = 8 << 3 // ns
	packetSequence   = 10 << 3
	packetEvent      = 11<<3 | 2
	packetInterned   = 12<<3 | 2
	packetFlags      = 13 << 3
	packetDescriptor = 60<<3 | 2

	trackUUID    = 1 << 3
	trackName    = 2<<3 | 2
	trackParent  = 5 << 3
	trackCounter = 8<<3 | 2
	counterUnit  = 6<<3 | 2 // unit_name

	eventAnnotation = 4<<3 | 2
	eventType       = 9 << 3
	eventNameIID    = 10 << 3
	eventTrack      = 11 << 3
	eventDouble     = 44<<3 | 1 // double_counter_value

	annotationNameIID = 1 << 3
	annotationInt     = 4 << 3

	internedEventNames      = 2<<3 | 2
	internedAnnotationNames = 3<<3 | 2
	internedIID             = 1 << 3
	internedName            = 2<<3 | 2
)

// Values of these fields.
const (
	stateCleared = 1
	stateNeeded  = 2
	sliceBegin   = 1
	sliceEnd     = 2
	counterValue = 4
)

// Annotations of spans, by their number.
const (
	annotationTo = 1 + iota
	annotationCollective
	annotationBytes
)

// perfetto writes packets.
type perfetto struct {
	to     io.Writer
	out    []byte // complete packets
	packet []byte
	part   []byte // a message inside the packet
	inner  []byte // a message inside the part
	tracks uint64 // the last track's number
	err    error
}

// WritePerfetto writes the timeline as a trace of TrackEvents. Each rank has a track with
// tracks below it for each kind of its spans; each process group has a track. Spans that
// overlap are on several tracks of the same name. Times are rounded down to nanoseconds.
func (t *Timeline) WritePerfetto(w io.Writer) error {
	p := &perfetto{to: w}
	t.Name([]byte(Waiting.String()))
	p.intern(t.names.list)
	var parent uint64
	before := Span{Owner: -1}
	l := lanes{}
	t.each(func(s *Span) {
		switch {
		case s.owner() != before.owner():
			name := fmt.Sprintf("rank %d", s.Owner)
			if s.Kind == Running {
				name = "group " + t.groups.list[s.Owner]
			}
			l, parent = l[:0], p.track(0, name, false)
		case s.Kind != before.Kind:
			l = l[:0]
		}
		before = *s
		at := l.take(s)
		if l[at].track == 0 {
			l[at].track = p.track(parent, s.Kind.String(), false)
		}
		p.span(l[at].track, s)
		l.settle(at)
	})
	p.counters(t.counters)
	p.flush()
	return p.err
}

// counters writes the counters below a track. A value is that of the interval that ends at
// its time, so it is written at the interval's start.
func (p *perfetto) counters(list []counter) {
	if len(list) == 0 {
		return
	}
	parent := p.track(0, "links", false)
	for _, c := range list {
		track, from := p.track(parent, c.name, true), int64(0)
		for _, at := range c.points {
			p.count(track, from, float64(at.value)/1e6)
			from = at.at
		}
		p.count(track, from, 0)
	}
}

// lane is a track on which spans do not overlap.
type lane struct {
	end   int64
	track uint64
}

// lanes is a heap of lanes, of which the first is free first.
type lanes []lane

// take returns the index of a lane that is free for the span: the first, or a new one.
func (l *lanes) take(s *Span) int {
	if len(*l) == 0 || (*l)[0].end > s.Start {
		*l = append(*l, lane{end: s.End})
		return len(*l) - 1
	}
	(*l)[0].end = s.End
	return 0
}

// settle restores the heap after the end of the lane at an index has changed.
func (l lanes) settle(i int) {
	for i > 0 && l[i].end < l[(i-1)/2].end {
		l[i], l[(i-1)/2] = l[(i-1)/2], l[i]
		i = (i - 1) / 2
	}
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(l); c++ {
			if l[c].end < l[least].end {
				least = c
			}
		}
		if least == i {
			return
		}
		l[i], l[least] = l[least], l[i]
		i = least
	}
}

func number(b []byte, key, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, key), v)
}

func message(b []byte, key uint64, m []byte) []byte {
	return append(number(b, key, uint64(len(m))), m...)
}

func text(b []byte, key uint64, s string) []byte { return append(number(b, key, uint64(len(s))), s...) }

// intern writes the names to which spans and annotations refer by numbers from 1.
func (p *perfetto) intern(names []string) {
	p.packet = number(number(p.packet[:0], packetSequence, 1), packetFlags, stateCleared)
	p.part = p.part[:0]
	add := func(key uint64, iid int, name string) {
		p.inner = text(number(p.inner[:0], internedIID, uint64(iid)), internedName, name)
		p.part = message(p.part, key, p.inner)
	}
	for i, name := range names {
		add(internedEventNames, i+1, name)
	}
	add(internedAnnotationNames, annotationTo, "to rank")
	add(internedAnnotationNames, annotationCollective, "collective")
	add(internedAnnotationNames, annotationBytes, "bytes")
	p.packet = message(p.packet, packetInterned, p.part)
	p.close()
}

// track describes a track and returns its number. The parent 0 is none.
func (p *perfetto) track(parent uint64, name string, counts bool) uint64 {
	p.tracks++
	p.part = text(number(p.part[:0], trackUUID, p.tracks), trackName, name)
	if parent != 0 {
		p.part = number(p.part, trackParent, parent)
	}
	if counts {
		p.inner = text(p.inner[:0], counterUnit, "%")
		p.part = message(p.part, trackCounter, p.inner)
	}
	p.packet = message(p.packet[:0], packetDescriptor, p.part)
	p.close()
	return p.tracks
}

// event starts a packet of an event; its fields are in part, which finish encloses.
func (p *perfetto) event(kind, track uint64, at int64) {
	p.packet = number(p.packet[:0], packetTimestamp, uint64(at/1000))
	p.packet = number(number(p.packet, packetSequence, 1), packetFlags, stateNeeded)
	p.part = number(number(p.part[:0], eventType, kind), eventTrack, track)
}

func (p *perfetto) finish() {
	p.packet = message(p.packet, packetEvent, p.part)
	p.close()
}

func (p *perfetto) span(track uint64, s *Span) {
	p.event(sliceBegin, track, s.Start)
	p.part = number(p.part, eventNameIID, uint64(s.Name)+1)
	if s.Kind == Sending {
		p.annotate(annotationTo, int64(s.To))
	}
	if s.Kind == Sending || s.Kind == Running {
		if s.Collective >= 0 {
			p.annotate(annotationCollective, s.Collective)
		}
		p.annotate(annotationBytes, s.Bytes)
	}
	p.finish()
	p.event(sliceEnd, track, s.End)
	p.finish()
}

func (p *perfetto) annotate(name uint64, v int64) {
	p.inner = number(number(p.inner[:0], annotationNameIID, name), annotationInt, uint64(v))
	p.part = message(p.part, eventAnnotation, p.inner)
}

func (p *perfetto) count(track uint64, at int64, value float64) {
	p.event(counterValue, track, at)
	p.part = binary.AppendUvarint(p.part, eventDouble)
	p.part = binary.LittleEndian.AppendUint64(p.part, math.Float64bits(value))
	p.finish()
}

// close ends the packet.
func (p *perfetto) close() {
	p.out = message(p.out, tracePacket, p.packet)
	if len(p.out) >= 64<<10 {
		p.flush()
	}
}

func (p *perfetto) flush() {
	if p.err == nil {
		_, p.err = p.to.Write(p.out)
	}
	p.out = p.out[:0]
}
