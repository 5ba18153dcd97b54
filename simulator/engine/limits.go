package engine

// limiting says how much a resource limited flows. At any time one resource on a
// flow's path limits the flow: the one that sets its share, or the first of several.
// Every bit sent is attributed to the resource that limits its flow, so the bits of
// all resources add up to all bits sent.
type limiting struct {
	time Sum   // flow·ps
	bits int64 // that flows sent while it limited them
}

// limitedSince says since when the current resource has limited a flow. The zero value
// means since the flow's start.
type limitedSince struct {
	time int64 // ps
	left int64 // bits left to send then
}

// setLimit makes the resource that the solver found the flow's limit from now on.
func (e *engine) setLimit(f *flow) {
	left := f.left.bits()
	e.addLimited(f, e.shape(f), e.now, left)
	f.limit, f.limited = f.next, limitedSince{e.now, left}
}

// addLimited adds to the flow's limiting resource the time for which it limited the
// flow and the bits that the flow sent meanwhile.
func (e *engine) addLimited(f *flow, s *shape, until, left int64) {
	if f.limit == none {
		return
	}
	since := f.limited
	if since.left == 0 {
		since = limitedSince{f.start, s.wire.bits}
	}
	l := &e.resources[f.limit].limited
	l.time.Add(until - since.time)
	l.bits += since.left - left
}

// LimitKind is the kind of resource that limited flows.
type LimitKind uint8

// The kinds of limits.
const (
	LimitLinks  LimitKind = iota // a directed link, or parallel ones that are shared as one
	LimitSwitch                  // the switching capacity of a switch, or of several that share it
	LimitPort                    // a rank's port in its scale-up group
)

// Limit is one resource that limited flows.
type Limit struct {
	Kind  LimitKind
	Down  bool    // of links: downwards; of a port: into the rank
	Links []int32 // of the fabric, of LimitLinks
	Of    int32   // the node of LimitSwitch, or the first of several; the rank of LimitPort
	// FlowTime is how long it limited flows, in flow·ps: to limit ten flows for one
	// microsecond counts as much as to limit one flow for ten.
	FlowTime Sum
	Bits     int64 // wire bits that flows sent while it limited them
}

// listLimits lists the resources that limited flows, in the order of resources. It
// includes the flows in flight.
func (e *engine) listLimits() []Limit {
	for id := range e.flows {
		f := &e.flows[id]
		if !f.attached || f.rate == 0 {
			continue
		}
		until := min(e.now, f.drain)
		e.addLimited(f, e.shape(f), until, f.left.after(f.rate, until-f.since).bits())
	}
	switches := e.limitedSwitches()
	var list []Limit
	for h := range e.resources {
		l := &e.resources[h].limited
		if l.time == (Sum{}) {
			continue
		}
		limit := e.limit(int32(h), switches)
		limit.FlowTime, limit.Bits = l.time, l.bits
		list = append(list, limit)
	}
	return list
}

// limitedSwitches returns the first node of each switching capacity, by resource.
func (e *engine) limitedSwitches() map[int32]int32 {
	switches := map[int32]int32{}
	for node, h := range e.capacities {
		if _, known := switches[h]; !known {
			switches[h] = int32(node)
		}
	}
	return switches
}

// limit describes a resource.
func (e *engine) limit(h int32, switches map[int32]int32) Limit {
	if s := &e.scaleUp; s.ScaleUp != nil && h >= s.first {
		return Limit{Kind: LimitPort, Of: (h - s.first) / 2, Down: (h-s.first)%2 == 1}
	}
	if node, is := switches[h]; is {
		return Limit{Kind: LimitSwitch, Of: node}
	}
	f := e.fabric
	limit := Limit{Down: h%2 == 1}
	switch {
	case e.spreading == sprayed:
		limit.Links = f.Bundles[h/2].Links
	case e.spreading == mixed && h >= f.Group0():
		g := e.routes.Groups()[h-f.Group0()]
		limit.Down = g.Links[0]%2 == 1
		for _, directed := range g.Links {
			limit.Links = append(limit.Links, directed/2)
		}
	case e.spreading == mixed && h >= f.Bundle0():
		limit.Links = f.Bundles[(h-f.Bundle0())/2].Links
	default:
		limit.Links = []int32{h / 2}
	}
	return limit
}
