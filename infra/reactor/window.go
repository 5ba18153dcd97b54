package reactor

import (
	"slices"
	"sync"
	"time"

	"netsim/events"
	"netsim/infra/facts"
)

// window is what a handler has done of a partition: every fact before read but
// the open ones. Facts of one stream are handed out one after the other, so a
// fact that is not done holds only the later facts of its stream. A window is safe
// for concurrent use.
type window struct {
	partition int32
	moved     func() // called after the position may have changed

	mu       sync.Mutex
	read     int64         // the first offset that was not read
	anchor   events.Anchor // of read, or of what was read before the window was made
	before   resumed       // what was done when the window was made
	open     []*slot       // the facts that are not done, and some that are; ascending
	undone   int           // how many of open are not done
	loaded   int           // facts in memory
	bytes    int           // of them
	unloaded time.Time     // when facts behind stuck ones last left memory
	streams  map[string]*line
	room     chan struct{} // receives a value when a fact has left memory
}

// slot is a fact that was read.
type slot struct {
	offset int64
	stream string
	size   int
	done   bool
	fact   *facts.Fact // nil when it has to be read again
}

// line is a stream with a fact that is handed out.
type line struct {
	since  time.Time // when the router got it; zero while it waits for others of its handler
	behind []*slot   // the later facts
}

// The limits of a window.
const (
	maxLoaded = 512     // facts in memory
	maxBytes  = 1 << 20 // of them
	maxOpen   = 1 << 15 // facts, also those that are not in memory
	// stuckAfter is how long a fact is with its handler before the facts behind it
	// leave memory to make room for other streams.
	stuckAfter = time.Second
)

func newWindow(partition int32, from position, moved func()) *window {
	return &window{
		partition: partition, moved: moved, read: from.next, anchor: from.anchor, before: from.resumed,
		streams: map[string]*line{}, room: make(chan struct{}, 1),
	}
}

// next returns the first offset that was not read.
func (w *window) next() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.read
}

// full reports whether a further batch has to wait. When memory is short, it first
// unloads the facts behind stuck ones.
func (w *window) full(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	crowded := w.loaded >= maxLoaded || w.bytes >= maxBytes
	if crowded && now.Sub(w.unloaded) >= stuckAfter/10 {
		w.unloaded = now
		for _, l := range w.streams {
			for _, s := range l.behind {
				if s.fact != nil && l.stuck(now) {
					w.unload(s)
				}
			}
		}
	}
	return w.loaded >= maxLoaded || w.bytes >= maxBytes || w.undone >= maxOpen
}

func (l *line) stuck(now time.Time) bool { return !l.since.IsZero() && now.Sub(l.since) >= stuckAfter }

// begin notes that the router gets a fact.
func (w *window) begin(s *slot, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.streams[s.stream]; l.since.IsZero() {
		l.since = now
	}
}

// add adds a batch that begins at next, and returns the facts to hand out now.
func (w *window) add(b *facts.Batch) (ready []*slot) {
	w.mu.Lock()
	for i := range b.Facts {
		f := &b.Facts[i]
		if w.before.done(f.Offset) {
			continue
		}
		s := &slot{offset: f.Offset, stream: string(f.Record.Key), size: f.Size()}
		w.open = append(w.open, s)
		w.undone++
		w.load(s, f)
		if l := w.streams[s.stream]; l != nil {
			l.behind = append(l.behind, s)
			continue
		}
		w.streams[s.stream] = &line{}
		ready = append(ready, s)
	}
	w.read = b.To
	if b.To >= w.anchor.Next {
		w.anchor = w.anchor.After(b.To, b.Last)
	}
	idle := w.undone == 0
	w.mu.Unlock()
	if idle { // else the position moves when a fact is done
		w.moved()
	}
	return ready
}

// load puts a fact into its slot. The caller holds the lock.
func (w *window) load(s *slot, f *facts.Fact) {
	s.fact = f
	w.loaded++
	w.bytes += s.size
}

func (w *window) unload(s *slot) {
	s.fact = nil
	w.loaded--
	w.bytes -= s.size
}

// reload puts a fact that was read again into its slot.
func (w *window) reload(s *slot, f *facts.Fact) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.load(s, f)
}

// finish marks a fact that was handed out as done, and returns the next one of
// its stream, nil when there is none.
func (w *window) finish(s *slot) (next *slot) {
	w.mu.Lock()
	s.done = true
	w.undone--
	w.unload(s)
	if l := w.streams[s.stream]; len(l.behind) > 0 {
		next, l.behind, l.since = l.behind[0], l.behind[1:], time.Time{}
	} else {
		delete(w.streams, s.stream)
	}
	w.trim()
	w.mu.Unlock()
	signal(w.room)
	w.moved()
	return next
}

// trim removes facts that are done: those at the front, and all when they are
// more than half.
func (w *window) trim() {
	for len(w.open) > 0 && w.open[0].done {
		w.open = w.open[1:]
	}
	if len(w.open) >= 2*w.undone+64 {
		w.open = slices.DeleteFunc(w.open, func(s *slot) bool { return s.done })
	}
}

// position returns what is done.
func (w *window) position() position {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.before.since(w.read)
	p := position{anchor: w.anchor, resumed: resumed{until: max(w.read, before.until)}}
	for _, s := range w.open {
		if !s.done {
			p.open = append(p.open, s.offset)
		}
	}
	p.open = append(p.open, before.open...) // of what is not read again yet
	if p.next = p.until; len(p.open) > 0 {
		p.next = p.open[0]
	}
	return p
}
