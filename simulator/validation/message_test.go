package validation_test

import (
	"testing"

	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// TestMessages: a message says what is wrong, with which value, and what to do.
func TestMessages(t *testing.T) {
	t.Parallel()
	for want, edit := range map[string]func(*document.Document){
		"parameter LoadBalancingFlowlet.Gap is 2000001us; set it to between 0s and 2s":                set("leaf", "LoadBalancingFlowlet.Gap", 2e6+1),
		"parameter EcmpHashMethod is 'md5'; choose one of [crc32WithSalt, crc32, hashWithSalt, hash]": set("leaf", "EcmpHashMethod", "md5"),
		"parameter NumUpLinks is missing; give it a uint such as 64": func(d *document.Document) {
			delete(component(d, "leaf").TypedParameters, "NumUpLinks")
		},
		"parameter Transport.MSS has the unit 's'; use one of [B, KB, MB, GB, KiB, MiB]": func(d *document.Document) {
			leaf(component(d, "nic").TypedParameters, "Transport.MSS").Unit = "s"
		},
		"parameter NumUpLinks is [1] of the type 'uint'; give it a uint such as 64": set("leaf", "NumUpLinks", []any{1.0}),
		"model 'clos-switch-v9' is not in the catalogue; choose one that GET /models?type=switch lists": func(d *document.Document) {
			component(d, "leaf").Model = "clos-switch-v9"
		},
		"the server 'ghost' is not declared; declare it or remove the reference": func(d *document.Document) {
			d.Containers[0].Components[1].Name = "ghost"
		},
		"a rack cannot hold a nic, only [switch, server]; move 'nic' elsewhere": func(d *document.Document) {
			d.Containers[0].Components[0] = document.Ref{Name: "nic", Type: "nic"}
		},
		"topologyTiers is 3 and the topology holds 1 racks, 0 pods and 0 switches; set topologyTiers to 1 or change what it holds": func(d *document.Document) {
			d.Topology.TopologyTiers = 3
		},
		"the topology comes to 100000 servers, and 65536 can be simulated; lower the counts": func(d *document.Document) {
			d.Containers[0].Components[1].Count = 100000
		},
		"the ports of leaf-0 come to 3200 Gbps, more than the 3199.5 Gbps that it switches; raise SwitchingCapacity, or lower the rates or the number of its links": set("leaf", "SwitchingCapacity", 3199.5),
		"the values of the 1 client entries sum up to 0.5; change them so that they sum up to 1":                                                                    entries(0.5),
	} {
		d := completed(t, rack)
		edit(d)
		found := false
		findings := validation.Check(d, ready(8))
		for _, f := range findings {
			found = found || f.Message == want
		}
		if !found {
			t.Errorf("no finding has the message %q: %+v", want, findings)
		}
	}
}
