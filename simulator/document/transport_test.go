package document_test

import (
	"strings"
	"testing"
	"time"

	"netsim/simulator/catalogue"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/engine"
)

// TestTransports: eight hosts send through one link to another rack. Lossless NICs get its
// rate, exactly as ideal ones, and trimming costs a third more.
func TestTransports(t *testing.T) {
	t.Parallel()
	n := network{pods: 1, racks: 2, hosts: 8, fsw: 1}
	times := map[string]int64{}
	for _, nic := range nicModels {
		n.nic = nic
		halves := collective.GroupSpec{Count: 1, GroupSize: 16, Phases: []collective.Phase{
			{OperationType: collective.ReduceScatter, Algorithm: collective.Halving, DataSize: 8 << 20}, // its first step is of 4 MiB
		}}
		times[nic] = simulate(t, n.document(t, numbered("rsw", 1)), time.Hour, halves).Time
	}
	roce, trimming, ideal := times["roce-nic-v1"], times["trimming-nic-v1"], times["ideal-nic-v1"]
	if roce != ideal || trimming < roce*5/4 || trimming > roce*3/2 {
		t.Errorf("lossless NICs take %d ps, ideal ones %d and trimming ones %d", roce, ideal, trimming)
	}
}

// TestOneTransport: NICs of servers have one transport. Others that are declared do not count.
func TestOneTransport(t *testing.T) {
	t.Parallel()
	d := network{pods: 1, racks: 2, hosts: 8, fsw: 1}.document(t)
	e, _ := catalogue.Find("trimming-nic-v1")
	d.Components = append(d.Components, e.Component("other", e.Latest()))
	if o, err := d.Options(time.Hour); err != nil || o.Transport != engine.Lossless {
		t.Errorf("a model that no server has: %v, %v", o.Transport, err)
	}
	for i := range d.Components {
		if d.Components[i].Type == document.TypeServer {
			d.Components[i].Components = append(d.Components[i].Components, document.Ref{Type: document.TypeNIC, Name: "other", Count: 1})
		}
	}
	_, err := d.Options(time.Hour)
	if err == nil || !strings.Contains(err.Error(), "nic (roce-nic-v1, lossless) and other (trimming-nic-v1, trimming) have different transports") {
		t.Errorf("NICs of two transports: %v", err)
	}
}
