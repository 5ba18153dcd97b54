package validation

import (
	"math"
	"math/bits"

	"netsim/simulator/collective"
	"netsim/simulator/document"
)

const (
	nicModel  = "roce-nic-v1" // the one to suggest
	pathGroup = "LogicalGroupId"
)

// workload returns the first chakra application and its index, or nil.
func (c *checker) workload() (*document.Application, int) {
	for i := range c.doc.Applications {
		if a := &c.doc.Applications[i]; a.TrafficType == document.TrafficChakra {
			return a, i
		}
	}
	return nil, 0
}

// applications checks the applications.
func (c *checker) applications() {
	list := c.doc.Applications
	if len(list) == 0 {
		c.err("APPLICATION_REQUIRED", position{"", "", "$.applications"}, "the configuration has no application; add one")
	}
	c.distribution()
	a, i := c.workload()
	if a == nil {
		c.traffic()
		return
	}
	at := position{a.Name, "", element("$.applications", i)}
	if len(list) > 1 {
		c.err("APPLICATION_NOT_ALONE", at, "a chakra application must be the only one and there are %d; delete the others or '%s'", len(list), a.Name)
	}
	c.ranks(at, c.grouped(a, at))
	c.algorithms(a, at)
	c.placement(a, at)
}

// maxTraffic bounds the number of applications that load a network at once.
const maxTraffic = 64

// traffic checks the number of uncoordinated applications, and that they have clients
// and servers.
func (c *checker) traffic() {
	at := position{"", "", "$.applications"}
	switch n := len(c.doc.Applications); {
	case n > maxTraffic:
		c.err("CONSTRAINT_VIOLATION", at, "there are %d applications, and %d can be simulated at once; delete some", n, maxTraffic)
	case n > 0 && c.fabric != nil && !c.broken:
		if _, err := c.doc.Traffic(c.fabric, 1); err != nil {
			c.err("CONSTRAINT_VIOLATION", at, "%s", err)
		}
	}
}

// ranks compares the traceset with the servers that can run it.
func (c *checker) ranks(at position, grouped bool) {
	t := c.traceset
	switch {
	case t == nil:
		c.err("TRACESET_REQUIRED", at, "application '%s' replays a traceset and none is attached; attach one", at.component)
		return
	case t.Status == "deleted":
		c.err("TRACESET_DELETED", at, "the attached traceset is deleted; attach another")
		return
	case t.Status != "ready":
		c.err("TRACESET_NOT_READY", at, "the attached traceset is %s, not ready; wait for it or attach another", t.Status)
		return
	case c.unsound || !grouped:
		return // the servers cannot be counted
	}
	e := c.extentOf(c.doc.Topology.Components)
	switch ranks, servers := float64(t.Ranks), e.placeable; {
	case ranks > servers:
		c.err("RANKS_EXCEED_SERVERS", at,
			"the traceset has %d ranks, and %.0f servers with a nic are in logical group %v; add servers or attach a smaller traceset", t.Ranks, servers, c.group)
	case ranks < servers:
		c.warn("SERVERS_EXCEED_RANKS", at,
			"the traceset has %d ranks, and %.0f servers with a nic are in logical group %v, some of which stay idle; remove servers or attach a larger traceset",
			t.Ranks, servers, c.group)
	}
}

// servers checks that the servers in the network have the NIC that a chakra
// application runs on.
func (c *checker) servers() {
	if !c.chakra {
		return
	}
	for _, d := range c.all {
		if d.kind != document.TypeServer || !c.reached[d.name] {
			continue
		}
		nics := 0
		for i := range d.refs {
			ref := &d.refs[i]
			if ref.Type != document.TypeNIC {
				continue
			}
			nics++
			nic := c.declared[ref.Name]
			if nic == nil {
				continue
			}
			if _, known := document.TransportOf(nic.model); !known {
				c.err("NIC_NOT_SUPPORTED", position{d.name, "", element(d.path+".components", i)},
					"nic '%s' is a %s, of which no transport is known for a chakra application; use %s", ref.Name, nic.model, nicModel)
			}
		}
		if nics == 0 {
			c.err("SERVER_WITHOUT_NIC", position{d.name, "", d.path + ".components"},
				"server '%s' has no nic, and a chakra application needs one; add a %s", d.name, nicModel)
		}
	}
}

// grouped checks that some server in the network belongs to the application's
// logical group.
func (c *checker) grouped(a *document.Application, at position) bool {
	servers := 0
	for _, d := range c.all {
		if d.kind != document.TypeServer || !c.reached[d.name] {
			continue
		}
		servers++
		if number(d.params, pathGroup) == c.group {
			return true
		}
	}
	if servers == 0 {
		return true // TOPOLOGY_EMPTY reports it
	}
	c.err("LOGICAL_GROUP_MISMATCH", position{a.Name, pathGroup, at.path + ".typedParameters." + pathGroup},
		"no server of the topology is of the logical group %v of application '%s'; give the servers or the application another group", c.group, a.Name)
	return false
}

// algorithms checks that process groups have a power of two of ranks if their
// algorithm needs it.
func (c *checker) algorithms(a *document.Application, at position) {
	if c.traceset == nil {
		return
	}
	for _, o := range collective.Matrix() {
		if len(o.PowerOfTwoRequired) == 0 {
			continue
		}
		path := document.InChakra + document.AlgorithmParameter(o.OperationType)
		algorithm := word(a.TypedParameters, path)
		if !collective.AlgorithmOfParameter(algorithm).PowerOfTwo {
			continue
		}
		for _, size := range c.traceset.Groups {
			if bits.OnesCount64(uint64(size)) != 1 { //nolint:gosec // a size is positive
				c.err("ALGORITHM_NEEDS_POWER_OF_TWO", position{a.Name, path, at.path + ".typedParameters." + path},
					"'%s' needs process groups of a power of two of ranks and the traceset has one of %d; set %s to %s",
					algorithm, size, path, o.DefaultAlgorithm)
				break
			}
		}
	}
}

// distribution checks that the entries of each kind sum up to 1.
func (c *checker) distribution() {
	d := c.doc.Topology.AppDistribution
	if d == nil {
		return
	}
	for _, kind := range []string{"client", "server"} {
		sum, entries := 0.0, 0
		for i := range d.Entries {
			if e := &d.Entries[i]; e.ApplicationType == kind {
				sum += e.DistributionPercent.Value
				entries++
			}
		}
		if entries > 0 && !(math.Abs(sum-1) <= 1e-9) { // NaN is not 1 either
			c.err("DISTRIBUTION_SUM", position{"", "", "$.topology.appDistribution.randomApplicationDistribution"},
				"the values of the %d %s entries sum up to %v; change them so that they sum up to 1", entries, kind, sum)
		}
	}
}
