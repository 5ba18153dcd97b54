package validation

import "netsim/simulator/document"

// extent is the size of a part of the network after it is unfolded. Counts are
// floating-point numbers, which do not wrap around; they are only compared with bounds.
type extent struct {
	servers        float64
	placeable      float64 // servers with a NIC in the application's logical group
	racks, pods    float64
	switches, nics float64
	links          float64 // inside the part
	reads          float64 // references to follow in order to unfold it

	own      float64 // switches directly in the part
	up       float64 // links upwards of those without NumUpLinksPerSwitch
	perUpper float64 // links of the others to each upper switch
}

// add adds count times the extent of a member. Its references are followed only once.
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

// wired returns the number of links from the part to the upper switches.
func (e *extent) wired(upper float64) float64 {
	if upper == 0 {
		return 0
	}
	return e.up + e.perUpper*upper
}

// extentOf adds up the extents of references, as package document reads them and
// package topology wires them. No holder may contain itself.
func (c *checker) extentOf(refs []document.Ref) extent {
	e := extent{reads: float64(len(refs))}
	mesh := 0.0 // links of a pod's switch to a spine switch
	for i := range refs {
		d, count := c.declared[refs[i].Name], float64(max(refs[i].Count, 1))
		switch d.kind {
		case document.TypeSwitch:
			e.own += count
			e.switches += count
			if per := number(d.params, "NumUpLinksPerSwitch"); per > 0 {
				e.perUpper += count * per
			} else {
				e.up += count * number(d.params, "NumUpLinks")
			}
		case document.TypeNIC:
			e.nics += count
		case document.TypeLayer:
			if word(d.params, "Wiring") == "full-mesh" {
				mesh = max(number(d.params, "LinksPerPair"), 1)
			}
		case document.TypeServer, document.TypeRack, document.TypePod:
			e.add(c.unfold(d), count)
		}
	}
	for i := range refs { // all switches are known now
		d, count := c.declared[refs[i].Name], float64(max(refs[i].Count, 1))
		switch d.kind {
		case document.TypeServer:
			e.links += count * c.unfold(d).nics * e.own
		case document.TypeRack, document.TypePod:
			one := c.unfold(d)
			if d.kind == document.TypePod && mesh > 0 {
				e.links += count * one.own * e.own * mesh
			} else {
				e.links += count * one.wired(e.own)
			}
		}
	}
	return e
}

// unfold returns the extent of one instance of a declaration.
func (c *checker) unfold(d *declaration) extent {
	if e, done := c.extents[d.name]; done {
		return e
	}
	e := c.extentOf(d.refs)
	switch d.kind {
	case document.TypePod:
		e.pods = 1
	case document.TypeRack:
		e.racks = 1
	case document.TypeServer:
		e.servers = 1
		if e.nics > 0 && number(d.params, pathGroup) == c.group {
			e.placeable = 1
		}
	}
	c.extents[d.name] = e
	return e
}

// tooLarge returns which bound the extent exceeds, or "".
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
