package handle

import (
	"context"
	"sync"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

// lane is a stream in use by this process. Its tip is what the head of the stream
// will be if every appended record becomes a fact.
type lane struct {
	users int // guarded by Handler.mu

	mu     sync.Mutex
	tip    *tip
	claims map[string]chan struct{} // running commands, by id
}

type tip struct {
	head  events.Head
	state commands.State
	last  *appended // the record at head; nil when head was loaded
}

// appended is an appended record, with its verdict.
type appended struct {
	wait   Wait
	judged chan struct{}
	fact   bool // valid once judged is closed
}

func (h *Handler) enter(stream string) *lane {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.lanes[stream]
	if l == nil {
		l = &lane{}
		if h.lanes == nil {
			h.lanes = map[string]*lane{}
		}
		h.lanes[stream] = l
	}
	l.users++
	return l
}

func (h *Handler) leave(stream string, l *lane) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(h.lanes, stream)
	}
}

// claim claims a command's id. It first waits for any other run that has it.
func (l *lane) claim(ctx context.Context, commandID string) error {
	for {
		l.mu.Lock()
		other, taken := l.claims[commandID]
		if !taken {
			if l.claims == nil {
				l.claims = map[string]chan struct{}{}
			}
			l.claims[commandID] = make(chan struct{})
			l.mu.Unlock()
			return nil
		}
		l.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *lane) release(commandID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.claims[commandID])
	delete(l.claims, commandID)
}

// drop removes a tip that is based on a record that is not a fact.
func (l *lane) drop(t *tip) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tip == t {
		l.tip = nil
	}
}

// view is what a command decides on.
type view struct {
	tip      *tip
	prior    *events.Prior // the fact that an earlier run of the command left
	loaded   bool          // the stream was loaded since the command began
	sequence int64         // of the stream's last fact at that time
}

// view returns the lane's tip, and loads the stream when there is none. With load
// it loads the stream and looks up the command in any case.
//
// A tip has the facts that the read model had when the tip was loaded, and the
// records that this process has appended since. If another process has appended too,
// an append after the tip is rejected. A command that appends nothing would not
// notice, so it compares the tip's sequence with the loaded one.
func (h *Handler) view(ctx context.Context, l *lane, to Target, commandID string, load bool) (view, error) {
	l.mu.Lock()
	if t := l.tip; t != nil {
		l.mu.Unlock()
		if !load {
			return view{tip: t}, nil
		}
		s, err := h.Log.Load(ctx, to.Stream, commandID)
		return view{t, s.Prior, true, s.Head.Sequence}, err
	}
	defer l.mu.Unlock()
	var s events.Snapshot
	if !to.Fresh {
		var err error
		if s, err = h.Log.Load(ctx, to.Stream, commandID); err != nil {
			return view{}, err
		}
	}
	if s.Parked {
		return view{}, fault.New(fault.Unavailable, "%s cannot change until an operator repairs its stream", to.Stream)
	}
	state, err := commands.ReadState(to.Stream, s.State)
	if err != nil {
		return view{}, err
	}
	l.tip = &tip{head: s.Head, state: state}
	return view{l.tip, s.Prior, true, s.Head.Sequence}, nil
}
