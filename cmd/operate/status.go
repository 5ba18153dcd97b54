package operate

import (
	"slices"

	"netsim/api"
)

// HandlerStatus sums up the partitions of a handler.
type HandlerStatus struct {
	api.Reaction

	Partitions int
}

// ByHandler returns a row for each handler, in the order of the first partition of each.
func ByHandler(all []api.Reaction) (handlers []HandlerStatus) {
	for _, s := range all {
		at := slices.IndexFunc(handlers, func(h HandlerStatus) bool { return h.Handler == s.Handler })
		if at < 0 {
			handlers = append(handlers, HandlerStatus{s, 1})
			continue
		}
		h := &handlers[at]
		h.Partitions++
		h.LagRecords, h.LagSeconds = h.LagRecords+s.LagRecords, max(h.LagSeconds, s.LagSeconds)
		h.DeadLetters += s.DeadLetters
		if h.DeadSince == nil || s.DeadSince != nil && s.DeadSince.Before(h.DeadSince.Time) {
			h.DeadSince = s.DeadSince
		}
	}
	return handlers
}
