package validation

import "netsim/simulator/design"

// extent is what a part of the network unfolds to. Counts are floating-point:
// they only bound, and cannot overflow.
type extent struct {
	servers        float64
	placeable      float64 // servers with a NIC, of the logical group that is asked for
	racks, pods    float64
	switches, nics float64
	links          float64 // below the part's own switches
	reads          float64 // references that are followed to unfold it

	// Of the switches that stand directly in the part: how many, and their
	// links upwards, in all and to each upper switch.
	own, up, perUpper float64
}

// add adds count times what a member unfolds to.
func (e *extent) add(o extent, count float64) {
	e.servers += count * o.servers
	e.placeable += count * o.placeable
	e.racks += count * o.racks
	e.pods += count * o.pods
	e.switches += count * o.switches
	e.nics += count * o.nics
	e.links += count * o.links
	e.reads += o.reads
}

// wired are the links from below up to so many switches.
func (e *extent) wired(upper float64) float64 {
	if upper == 0 {
		return 0
	}
	return e.up + e.perUpper*upper
}

// extentOf adds up what references unfold to, as design reads and topology
// wires it. The references are sound: no holder holds itself.
func (c *checker) extentOf(refs []design.Ref) extent {
	e := extent{reads: float64(len(refs))}
	mesh := 0.0 // links of a pod's switch to a spine switch
	for i := range refs {
		d, count := c.declared[refs[i].Name], float64(max(refs[i].Count, 1))
		switch d.kind {
		case design.TypeSwitch:
			e.own += count
			e.switches += count
			if per := number(d.params, "NumUpLinksPerSwitch"); per > 0 {
				e.perUpper += count * per
			} else {
				e.up += count * number(d.params, "NumUpLinks")
			}
		case design.TypeNIC:
			e.nics += count
		case design.TypeLayer:
			if word(d.params, "Wiring") == "full-mesh" {
				mesh = max(number(d.params, "LinksPerPair"), 1)
			}
		case design.TypeServer, design.TypeRack, design.TypePod:
			e.add(c.unfold(d), count)
		}
	}
	for i := range refs { // now that the switches are known
		d, count := c.declared[refs[i].Name], float64(max(refs[i].Count, 1))
		switch d.kind {
		case design.TypeServer:
			e.links += count * c.unfold(d).nics * e.own
		case design.TypeRack, design.TypePod:
			one := c.unfold(d)
			if d.kind == design.TypePod && mesh > 0 {
				e.links += count * one.own * e.own * mesh
			} else {
				e.links += count * one.wired(e.own)
			}
		}
	}
	return e
}

// unfold is the extent of one of what a declaration declares.
func (c *checker) unfold(d *declaration) extent {
	if e, done := c.extents[d.name]; done {
		return e
	}
	e := c.extentOf(d.refs)
	switch d.kind {
	case design.TypePod:
		e.pods = 1
	case design.TypeRack:
		e.racks = 1
	case design.TypeServer:
		e.servers = 1
		if e.nics > 0 && number(d.params, pathGroup) == c.group {
			e.placeable = 1
		}
	}
	c.extents[d.name] = e
	return e
}

// tooLarge says what there is too much of, with the bound, or nothing.
func (e *extent) tooLarge() (what string, has float64, most int) {
	for _, x := range []struct {
		what string
		has  float64
		most int
	}{
		{"servers", e.servers, MaxServers}, {"racks", e.racks, maxHolders}, {"pods", e.pods, maxHolders},
		{"switches", e.switches, maxSwitches}, {"nics", e.nics, maxNICs}, {"links", e.links, maxLinks},
		{"references to follow", e.reads, maxReads},
	} {
		if x.has > float64(x.most) {
			return x.what, x.has, x.most
		}
	}
	return "", 0, 0
}
