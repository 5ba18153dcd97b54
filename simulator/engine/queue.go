package engine

// event is something that happens at an instant. Events of one instant happen
// by kind and, within a kind, in the order they were scheduled.
type event struct {
	time  int64
	order uint64 // kind and running number
	id    int32  // flow or component
	stamp uint32 // of the flow; an event with an old one is stale
}

type kind uint64

// The order matters: everything that ends at an instant has ended before
// counters are read, and rates are shared out last, once, for all changes of
// the instant.
const (
	acked  kind = iota // a transfer's last acknowledgement arrived
	beacon             // Observer.Beacon is due
	report             // Observer.Links is due
	settle             // a component's rates are due for sharing out again
	admit              // so are those of newly started flows
)

const kindShift = 60

func (ev *event) kind() kind { return kind(ev.order >> kindShift) }

// queue is a 4-ary heap of events.
type queue struct {
	heap  []event
	count uint64
}

func (q *queue) push(time int64, k kind, id int32, stamp uint32) {
	ev := event{time: time, order: uint64(k)<<kindShift | q.count, id: id, stamp: stamp}
	q.count++
	q.heap = append(q.heap, ev)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !before(&ev, &h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = ev
}

func (q *queue) pop() event {
	h := q.heap
	top := h[0]
	n := len(h) - 1
	ev := h[n]
	h = h[:n]
	q.heap = h
	i := 0
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if before(&h[c], &h[least]) {
				least = c
			}
		}
		if !before(&h[least], &ev) {
			break
		}
		h[i] = h[least]
		i = least
	}
	if n > 0 {
		h[i] = ev
	}
	return top
}

func before(a, b *event) bool {
	return a.time < b.time || a.time == b.time && a.order < b.order
}
