package projector

import (
	"slices"

	"netsim/events"
)

// Changes returns a channel that says when something in the families has been
// judged, after the read model has it: once for all that came since it was read
// last. stop ends it.
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

// listener is somebody who wants to know of changes.
type listener struct {
	families []events.Family
	changed  chan struct{}
}

// tell tells the listeners that the family has changed.
func (w *Watcher) report(family events.Family) {
	for _, l := range w.listeners {
		if !slices.Contains(l.families, family) {
			continue
		}
		select {
		case l.changed <- struct{}{}:
		default: // it knows already
		}
	}
}
