package validation

import "netsim/simulator/document"

// ParameterUseMapping is the parameter of a chakra application that says whether a
// mapping file places its ranks.
const ParameterUseMapping = document.InChakra + "UseMapping"

// placement checks the mapping file that places the ranks.
func (c *checker) placement(a *document.Application, at position) {
	m := c.mapping
	switch {
	case m == nil:
		if use, _ := a.TypedParameters.Find(ParameterUseMapping); use.Leaf != nil && use.Value == true {
			c.err("CONSTRAINT_VIOLATION", position{a.Name, ParameterUseMapping, at.path + ".typedParameters." + ParameterUseMapping},
				"%s is true and no mapping file is attached; attach one, which sets it", ParameterUseMapping)
		}
		return
	case m.Deleted:
		c.err("MAPPING_FILE_DELETED", at, "the attached mapping file is deleted; detach it or attach another")
		return
	case c.traceset == nil || c.traceset.Status != "ready":
		return // another finding reports it
	case m.Ranks != c.traceset.Ranks:
		c.err("MAPPING_RANK_COUNT_MISMATCH", at, "the attached mapping file places %d ranks, and the traceset has %d; attach one that places as many",
			m.Ranks, c.traceset.Ranks)
		return
	case c.unsound:
		return // the servers cannot be counted
	}
	servers := c.extentOf(c.doc.Topology.Components).servers
	unknown, first := 0, 0
	for rank, server := range m.Servers {
		if float64(server) >= servers {
			if unknown == 0 {
				first = rank
			}
			unknown++
		}
	}
	if unknown > 0 {
		c.err("MAPPING_SERVER_UNKNOWN", at,
			"the attached mapping file places %d ranks on servers outside the topology, which has %.0f; the first is rank %d on server %d: add servers, which count from 0, or attach another file",
			unknown, servers, first, m.Servers[first])
	}
}
