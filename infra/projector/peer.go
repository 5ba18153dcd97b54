package projector

import (
	"context"
	"time"

	"netsim/infra/wait"
)

// peer is the read model that a process follows beside its own. What it shows and
// acknowledges has been judged in both (doc.go, Superseded read models).
type peer struct {
	name   string    // NameOf its fingerprint; "" for none
	schema string    // that it is in
	until  time.Time // when it is not followed any more; zero while it is live
}

// The times around a promotion. A process knows which read model is live as of at most
// knownFor ago, or asks before it serves a request. So after Turnover, every process of
// the read model that was live follows the promoted one.
const (
	knownFor = time.Second
	Turnover = 2 * knownFor
)

// found notes which read models a poll has found that was sent at a time. It returns the
// peer.
func (w *Watcher) found(name, schema, live string, asked time.Time) peer {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.own = name
	before := w.peer
	switch {
	case isName(schema):
		w.peer = peer{name: live, schema: Live}
	case before.name != "": // this one has been promoted: the processes of the peer may not know that yet
		w.peer.schema = before.name
		if before.until.IsZero() {
			w.peer.until = asked.Add(Turnover)
		} else if asked.After(before.until) {
			w.drop()
		}
	}
	if w.peer.name != before.name {
		for _, part := range w.parts {
			part.peer = 0
		}
	}
	w.confirmed = asked
	close(w.polled)
	w.polled = make(chan struct{})
	return w.peer
}

// drop ends the following. The caller holds the lock.
func (w *Watcher) drop() {
	w.peer = peer{}
	for key, part := range w.parts {
		w.reach(judgedTo{family: key.family, partition: key.partition, next: part.own, ask: true}, false)
	}
}

// forsake ends the following of a peer that was dropped.
func (w *Watcher) forsake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop()
}

func (w *Watcher) hasPeer() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.peer.name != ""
}

// Superseded reports whether another read model was live when this watcher last looked.
func (w *Watcher) Superseded() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.peer.schema == Live
}

// Follows reports whether there is another read model that must have judged what this
// process shows and acknowledges. The answer is of a second ago at most: Follows waits for
// a poll otherwise.
func (w *Watcher) Follows(ctx context.Context) (bool, error) {
	for {
		follows, known, polled := w.following()
		if known {
			return follows, nil
		}
		select {
		case <-polled:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// Following is Follows without the wait. Before a poll that is late, the answer is not known.
func (w *Watcher) Following() (follows, known bool) {
	follows, known, _ = w.following()
	return follows, known
}

func (w *Watcher) following() (follows, known bool, polled <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.peer.name != "", time.Since(w.confirmed) < knownFor, w.polled
}

// AwaitTurnover returns once no process can take a superseded read model for the live one.
// A process calls it before it serves.
func (w *Watcher) AwaitTurnover(ctx context.Context) error {
	follows, err := w.Follows(ctx)
	if err != nil || follows {
		return err
	}
	others, err := Superseded(ctx, w.pool)
	if err != nil || len(others) == 0 {
		return err
	}
	return wait.For(ctx, Turnover)
}
