package handle

import (
	"context"
	"time"
)

const (
	// contendedFor is how long commands take turns after one of them has lost. When it has
	// passed, one loses again if others still write.
	contendedFor = 10 * time.Second
	// turnFor is how long commands may join the turn of this process. Those that come later
	// wait for its next one, so that no process keeps the others out.
	turnFor = 25 * time.Millisecond
	// turnTimeout bounds the wait for a turn. A command that has waited longer runs without.
	turnTimeout = 5 * time.Second
	// hopeless is how long a command waits in vain for a turn before those after it run
	// without one, for contendedFor: a process may be suspended in its turn.
	hopeless = time.Second
	// maxContended is about how many streams are remembered as contended.
	maxContended = 1024
)

// turn is a time in which this process appends to a contended stream and the others wait.
// It ends when the commands that have joined it have their verdicts.
//
// A turn saves work: without it, of the records that several processes append after the
// same head, one is a fact. No verdict depends on it, because a command that gets no turn
// appends all the same, and a process may be suspended and lose its turn unnoticed.
type turn struct {
	began   chan struct{} // closed when the others wait, or when that could not be had
	ended   chan struct{} // closed when the next turn may be taken
	until   time.Time     // when the last command may join; zero until it has begun
	users   int
	release func() // nil if it could not be had
}

// contention is what is known of a contended stream.
type contention struct {
	until time.Time
	forgo bool // commands run without turns
}

// lost notes that another process appends to the stream and has come first.
func (h *Handler) lost(stream string) {
	if h.Turn == nil {
		return
	}
	now := h.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if c, _ := h.contended.Get(stream); !c.forgo || now.After(c.until) {
		h.remember(stream, contention{until: now.Add(contendedFor)})
	}
}

// remember needs the lock.
func (h *Handler) remember(stream string, c contention) {
	h.contended.Get(stream)
	h.contended.Put(stream, c)
	h.contended.Turn(maxContended)
}

// takeTurn waits for a turn on the stream, or joins the one of this process. Without always
// it does so only if a command has lost to another process a short time ago. The caller
// calls leave when its records have their verdicts.
func (h *Handler) takeTurn(ctx context.Context, stream string, always bool) (leave func()) {
	if h.Turn == nil {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	for {
		t, first, join := h.joinTurn(stream, always)
		switch {
		case t == nil:
			return func() {}
		case first:
			h.beginTurn(ctx, stream, t)
			return func() { h.leaveTurn(stream, t) }
		case join:
			select {
			case <-t.began:
			case <-ctx.Done():
			}
			return func() { h.leaveTurn(stream, t) }
		}
		select {
		case <-t.ended:
		case <-ctx.Done():
			return func() {}
		}
	}
}

// joinTurn returns the turn of this process on the stream; nil if none is needed. The
// caller takes the turn if it is the first, waits for its begin if it has joined, and else
// waits for its end.
func (h *Handler) joinTurn(stream string, always bool) (t *turn, first, join bool) {
	now := h.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if t = h.turns[stream]; t != nil {
		if join = t.until.IsZero() || now.Before(t.until); join {
			t.users++
		}
		return t, false, join
	}
	c, _ := h.contended.Get(stream)
	if known := !now.After(c.until); !always && !known || known && c.forgo {
		return nil, false, false
	}
	t = &turn{began: make(chan struct{}), ended: make(chan struct{}), users: 1}
	if h.turns == nil {
		h.turns = map[string]*turn{}
	}
	h.turns[stream] = t
	return t, true, false
}

func (h *Handler) beginTurn(ctx context.Context, stream string, t *turn) {
	asked := h.Now()
	release, err := h.Turn(ctx, stream)
	h.mu.Lock()
	l := h.lanes[stream]
	h.mu.Unlock()
	if l != nil { // its tip is from before the turns of the others
		l.mu.Lock()
		l.tip = nil
		l.mu.Unlock()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Now()
	if err == nil {
		t.release = release
	} else if now.Sub(asked) >= hopeless {
		h.remember(stream, contention{until: now.Add(contendedFor), forgo: true})
	}
	t.until = now.Add(turnFor)
	close(t.began)
}

func (h *Handler) leaveTurn(stream string, t *turn) {
	h.mu.Lock()
	t.users--
	last := t.users == 0
	if last {
		delete(h.turns, stream)
		close(t.ended)
	}
	h.mu.Unlock()
	if last && t.release != nil {
		t.release()
	}
}
