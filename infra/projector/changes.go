package projector

import (
	"slices"

	"netsim/events"
)

// Changes returns a channel that receives a value after records of the families
// were committed to the read model: one value for all commits since the last
// receive. stop ends it.
func (w *Watcher) Changes(families ...events.Family) (changed <-chan struct{}, stop func()) {
	l := &listener{families: families, changed: make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners = append(w.listeners, l)
	return l.changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.listeners = slices.DeleteFunc(w.listeners, func(other *listener) bool { return other == l })
	}
}

// listener is a receiver of Changes.
type listener struct {
	families []events.Family
	changed  chan struct{}
}

// notify tells the listeners that the family has changed.
func (w *Watcher) notify(family events.Family) {
	for _, l := range w.listeners {
		if !slices.Contains(l.families, family) {
			continue
		}
		select {
		case l.changed <- struct{}{}:
		default: // a value is waiting
		}
	}
}
