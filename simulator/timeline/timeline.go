// Package timeline shows when the ranks of a run computed, sent and waited, when its
// collectives ran, and how busy the links were: as a trace in Perfetto's format, and as
// shares of bins for plots.
//
// A timeline is in memory, with some 50 bytes for each span; MaxSpans bounds it.
package timeline

import (
	"cmp"
	"slices"
)

// MaxSpans is the most computations and transfers of a timeline. It has the first ones that
// were added; Omitted counts the others.
const MaxSpans = 1_000_000

// Kind is what a span shows.
type Kind uint8

// The kinds of spans of a rank, and of a collective.
const (
	Computing     Kind = iota // on the accelerator
	HostComputing             // on the host's processor
	Sending                   // from the start to the last acknowledgement
	Waiting                   // neither computing nor sending
	Running                   // a collective
)

func (k Kind) String() string {
	return [...]string{"computing", "host computing", "sending", "waiting", "collective"}[k]
}

// Span is an interval of a rank or, of kind Running, of a process group.
type Span struct {
	Kind       Kind
	Owner      int32 // rank; of Running, an index that Group returned
	Name       int32 // an index that Name returned
	To         int32 // of Sending: the receiving rank
	Collective int64 // of Sending and Running: its ID; -1 for none
	Bytes      int64 // of Sending and Running
	Start, End int64 // ps
}

// Timeline collects spans and counters. The zero value is empty.
type Timeline struct {
	Omitted int64 // computations and transfers that were not kept

	spans     []Span
	activity  int   // computations and transfers in spans
	until     int64 // ps; the spans before it are complete
	end       int64 // ps, of the last span or point
	names     texts
	groups    texts
	counters  []counter
	byCounter map[string]int
}

// texts numbers texts from 0.
type texts struct {
	list []string
	at   map[string]int32
}

func (t *texts) number(text []byte) int32 {
	if n, known := t.at[string(text)]; known {
		return n
	}
	if t.at == nil {
		t.at = map[string]int32{}
	}
	n := int32(len(t.list))
	t.list = append(t.list, string(text))
	t.at[t.list[n]] = n
	return n
}

// counter is a series of percentages.
type counter struct {
	name   string
	points []point
}

type point struct {
	at    int64 // ps
	value int64 // millionths of a percent
}

// Name returns the index of a span's name.
func (t *Timeline) Name(name []byte) int32 { return t.names.number(name) }

// Group returns the index of a process group's name.
func (t *Timeline) Group(name []byte) int32 { return t.groups.number(name) }

// Add adds a span. Computations and transfers may be added in any order, but those that end
// first should come first: if there are more than MaxSpans, the later ones are omitted, and
// nobody is known to wait after the last one that is kept.
func (t *Timeline) Add(s Span) {
	if s.Kind != Running {
		if t.activity == MaxSpans {
			t.Omitted++
			return
		}
		t.activity++
		t.until = max(t.until, s.End)
	}
	t.end = max(t.end, s.End)
	t.spans = append(t.spans, s)
}

// Count adds a value of a counter, in millionths of a percent, for the interval that ends at
// a time in ps. Each counter's times ascend.
func (t *Timeline) Count(name string, at, value int64) {
	i, known := t.byCounter[name]
	if !known {
		if t.byCounter == nil {
			t.byCounter = map[string]int{}
		}
		i = len(t.counters)
		t.byCounter[name] = i
		t.counters = append(t.counters, counter{name: name})
	}
	t.end = max(t.end, at)
	t.counters[i].points = append(t.counters[i].points, point{at, value})
}

// each calls visit for every span, and for those in which ranks wait: by owner, kind and start.
// visit does not keep the span.
func (t *Timeline) each(visit func(*Span)) {
	slices.SortFunc(t.spans, func(a, b Span) int {
		return cmp.Or(
			cmp.Compare(a.owner(), b.owner()), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End),
			cmp.Compare(a.Collective, b.Collective), cmp.Compare(a.To, b.To), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Name, b.Name))
	})
	wait := Span{Kind: Waiting, Name: t.Name([]byte(Waiting.String())), To: -1, Collective: -1}
	for first := 0; first < len(t.spans); {
		last := first
		for last < len(t.spans) && t.spans[last].owner() == t.spans[first].owner() {
			visit(&t.spans[last])
			last++
		}
		if t.spans[first].Kind != Running {
			wait.Owner = t.spans[first].Owner
			t.waits(t.spans[first:last], wait, visit)
		}
		first = last
	}
}

// waits calls visit for the time before t.until in which a rank neither computes nor sends.
func (t *Timeline) waits(spans []Span, wait Span, visit func(*Span)) {
	var kinds [Waiting][]Span // of the rank, each by start
	for first := 0; first < len(spans); {
		last := first
		for last < len(spans) && spans[last].Kind == spans[first].Kind {
			last++
		}
		kinds[spans[first].Kind] = spans[first:last]
		first = last
	}
	for wait.Start < t.until {
		next := -1
		for k := range kinds {
			if len(kinds[k]) > 0 && (next < 0 || kinds[k][0].Start < kinds[next][0].Start) {
				next = k
			}
		}
		wait.End = t.until
		if next >= 0 {
			wait.End = min(kinds[next][0].Start, t.until)
		}
		if wait.Start < wait.End {
			visit(&wait)
		}
		if next < 0 {
			return
		}
		wait.Start = max(wait.Start, kinds[next][0].End)
		kinds[next] = kinds[next][1:]
	}
}

// owner orders ranks before process groups.
func (s *Span) owner() int64 {
	if s.Kind == Running {
		return 1<<32 + int64(s.Owner)
	}
	return int64(s.Owner)
}
