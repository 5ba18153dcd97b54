package validation

import (
	"fmt"
	"math"

	"netsim/simulator/design"
)

const nicModel = "roce-nic-v1" // the one that the engine knows

// applications checks what loads the network.
func (c *checker) applications() {
	list := c.doc.Applications
	if len(list) == 0 {
		c.err("APPLICATION_REQUIRED", "", "$.applications", "the configuration has no application")
		return
	}
	for i := range list {
		if list[i].TrafficType != design.TrafficChakra {
			continue
		}
		path := fmt.Sprintf("$.applications[%d]", i)
		if len(list) > 1 {
			c.err("APPLICATION_NOT_ALONE", list[i].Name, path, "a chakra application must be the only one, there are %d", len(list))
		}
		c.group(&list[i], path)
		c.servers()
		c.ranks(list[i].Name, path)
		break
	}
	c.distribution()
}

// ranks compares the traceset with the servers that can run it.
func (c *checker) ranks(application, path string) {
	t := c.traceset
	switch {
	case t == nil:
		c.err("TRACESET_REQUIRED", application, path, "application '%s' needs an active traceset", application)
		return
	case t.Status == "deleted":
		c.err("TRACESET_DELETED", application, path, "the active traceset is deleted")
		return
	case t.Status != "ready":
		c.err("TRACESET_NOT_READY", application, path, "the active traceset is %s, not ready", t.Status)
		return
	}
	if c.unsound {
		return // the servers cannot be counted
	}
	servers := c.extentOf(c.doc.Topology.Components).withNIC
	switch ranks := float64(t.Ranks); {
	case ranks > servers:
		c.err("RANKS_EXCEED_SERVERS", application, path, "the traceset has %d ranks, the topology %.0f servers with a nic", t.Ranks, servers)
	case ranks < servers:
		c.add(Finding{Code: "SERVERS_EXCEED_RANKS", Severity: Warning, Component: application, Path: path},
			"the traceset has %d ranks, the topology %.0f servers with a nic", t.Ranks, servers)
	}
}

// servers checks that the servers in the network have the NIC that a chakra
// application runs on.
func (c *checker) servers() {
	reached := Reachable(c.doc)
	for i := range c.doc.Components {
		s := &c.doc.Components[i]
		if s.Type != design.TypeServer || !reached[s.Name] {
			continue
		}
		path, nics := fmt.Sprintf("$.components[%d]", i), 0
		for _, ref := range s.Components {
			if ref.Type != design.TypeNIC {
				continue
			}
			nics++
			if at, known := c.declared[ref.Name]; known && at.model != nicModel {
				c.err("NIC_NOT_SUPPORTED", s.Name, path, "nic '%s' is a %s; a chakra application needs %s", ref.Name, at.model, nicModel)
			}
		}
		if nics == 0 {
			c.err("SERVER_WITHOUT_NIC", s.Name, path, "server '%s' has no nic", s.Name)
		}
	}
}

// group checks that some server is of the application's logical group.
func (c *checker) group(a *design.Application, path string) {
	const parameter = "LogicalGroupId"
	want := find(a.TypedParameters, parameter)
	if want == nil {
		return
	}
	servers := 0
	for i := range c.doc.Components {
		s := &c.doc.Components[i]
		if s.Type != design.TypeServer {
			continue
		}
		servers++
		if has := find(s.TypedParameters, parameter); has != nil && has.Value == want.Value {
			return
		}
	}
	if servers > 0 {
		c.add(Finding{Code: "LOGICAL_GROUP_MISMATCH", Severity: Error, Component: a.Name, Parameter: parameter, Path: path},
			"no server is of the logical group %v of application '%s'", want.Value, a.Name)
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
		for _, e := range d.Entries {
			if e.ApplicationType == kind {
				sum += e.DistributionPercent.Value
				entries++
			}
		}
		if entries > 0 && math.Abs(sum-1) > 1e-9 {
			c.err("DISTRIBUTION_SUM", "", "$.topology.appDistribution", "the %s entries sum up to %v, not 1", kind, sum)
		}
	}
}
