package validation

import "netsim/simulator/document"

// Placeable returns how many ranks the document's topology can run: the number of its
// servers that have a NIC and are in the logical group of the chakra application (0
// without one), at most MaxServers. ok is false if errors in the document leave the
// number unknown.
func Placeable(d *document.Document) (servers int64, ok bool) {
	c := checker{
		doc: d, all: declarations(d), declared: map[string]*declaration{}, reached: Reachable(d),
		models: map[string]*model{}, count: map[string]int{}, extents: map[string]extent{},
	}
	if a, _ := c.workload(); a != nil {
		c.chakra, c.group = true, number(a.TypedParameters, pathGroup)
	}
	c.declare()
	c.references()
	if c.unsound {
		return 0, false
	}
	e := c.extentOf(d.Topology.Components)
	return int64(min(e.placeable, MaxServers)), true
}
