package engine

// event is something that happens to a flow, a component or a rank.
type event struct {
	id    int32
	stamp uint32 // of the flow: an event with an old stamp is stale; of computed: the processor
}

// kind is what happens. Events of one instant happen in the order of kinds: ends come
// before reports, and rates are assigned after both, once for all ends of the instant
// and the transfers that these start.
type kind uint64

const (
	sent     kind = iota // a transfer's last byte has left its sender, and another one waits for that
	acked                // a transfer's last acknowledgement arrived
	computed             // a rank's computation is over
	beacon               // Observer.Beacon is due
	report               // Observer.Links is due
	settle               // a component's rates are due to be assigned again
	admit                // newly started flows are due to get rates
	arrive               // a client's next message is due, or the time for messages is over
	start                // ranks and clients begin
)

// never is later than any simulated time, and small enough for the time in a key.
const never = 1<<(64-kindBits) - 1

// kindBits is the number of bits of a kind in a key.
const kindBits = 4

// keyOf returns the key by which events are ordered.
func keyOf(time int64, k kind) uint64 { return uint64(min(time, never))<<kindBits | uint64(k) }

func kindOf(key uint64) kind  { return kind(key & (1<<kindBits - 1)) }
func timeOf(key uint64) int64 { return int64(key >> kindBits) }

// queue holds events in the order of time and kind. In collectives many ranks do the
// same thing at the same picosecond. So the heap holds instants (a time and a kind), each
// with a list of events in the order of their pushes, and a push to a cached instant does
// not touch the heap.
//
// An instant may be in the heap more than once, if the cache has dropped it; the oldest
// comes first. The order depends on the pushes alone.
type queue struct {
	heap   []instant // 4-ary, least first
	nodes  []node
	free   int32 // first free node, 0 for none; node 0 is not used
	pushes uint64
	cache  [cacheSize]cached
}

const cacheSize = 256

// slot returns the cache entry of a key.
func slot(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 56 }

type instant struct {
	key    uint64 // of keyOf
	pushed uint64 // number of the push that created it
	first  int32  // node
}

type node struct {
	event
	next int32
}

// cached is a recently created instant. It points to the last node of the instant's
// list, so a push can extend the list without finding the instant in the heap.
type cached struct {
	key  uint64
	last int32 // 0 when the entry is empty
}

func (q *queue) push(time int64, k kind, id int32, stamp uint32) {
	key := keyOf(time, k)
	n := q.newNode(event{id, stamp})
	c := &q.cache[slot(key)]
	if c.last != 0 && c.key == key {
		q.nodes[c.last].next = n
		c.last = n
		return
	}
	*c = cached{key, n}
	q.pushes++
	q.up(instant{key: key, pushed: q.pushes, first: n})
}

// reserve makes room for many instants at once, because a heap that grows step by step leaves
// several times as much garbage. Room that is not used takes no memory of the machine.
func (q *queue) reserve(pushes int) {
	if n := len(q.heap); pushes > n && pushes > cap(q.heap)-n {
		q.heap = append(make([]instant, 0, n+pushes), q.heap...)
	}
}

func (q *queue) newNode(ev event) int32 {
	if n := q.free; n != 0 {
		q.free = q.nodes[n].next
		q.nodes[n] = node{event: ev}
		return n
	}
	if len(q.nodes) == 0 {
		q.nodes = append(q.nodes, node{})
	}
	q.nodes = append(q.nodes, node{event: ev})
	return int32(len(q.nodes) - 1)
}

// idle reports whether only periodic reports are left.
func (q *queue) idle() bool {
	for i := range q.heap {
		if k := q.heap[i].kind(); i >= 2 || k != report && k != beacon {
			return false
		}
	}
	return true
}

func (i *instant) kind() kind  { return kindOf(i.key) }
func (i *instant) time() int64 { return timeOf(i.key) }

// pop removes the next event. The queue must not be empty.
func (q *queue) pop() (time int64, k kind, ev event) {
	top := &q.heap[0]
	time, k = top.time(), top.kind()
	n := top.first
	ev = q.nodes[n].event
	top.first = q.nodes[n].next
	if top.first == 0 {
		if c := &q.cache[slot(top.key)]; c.last == n {
			c.last = 0
		}
		q.removeTop()
	}
	q.nodes[n].next = q.free
	q.free = n
	return time, k, ev
}

func (q *queue) up(in instant) {
	q.heap = append(q.heap, in)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !in.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = in
}

func (q *queue) removeTop() {
	n := len(q.heap) - 1
	in := q.heap[n]
	h := q.heap[:n]
	q.heap = h
	if n == 0 {
		return
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&in) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = in
}

func (i *instant) before(j *instant) bool {
	return i.key < j.key || i.key == j.key && i.pushed < j.pushed
}
