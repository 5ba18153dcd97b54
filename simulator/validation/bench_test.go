package validation_test

import (
	"fmt"
	"testing"

	"netsim/simulator/collective"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
	"netsim/simulator/validation"
)

// BenchmarkCheck checks derived documents of several sizes, and a document in
// which each rack has its own declarations.
func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct {
		radix string
		ranks int
	}{{"64x800G", 4096}, {"128x400G", 16384}, {"64x800G", 65536}} {
		b.Run(fmt.Sprintf("%s/%d", c.radix, c.ranks), func(b *testing.B) {
			s, _, err := presets.NewSimple(&topology.Constraints{SwitchRadix: c.radix},
				&collective.Workload{Ranks: c.ranks, Phases: []collective.Phase{{OperationType: collective.AllReduce, DataSize: 1}}}, nil)
			if err != nil {
				b.Fatal(err)
			}
			d, err := s.Document()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				validation.Check(d, ready(int64(c.ranks)))
			}
		})
	}
	b.Run("declarations/3000", func(b *testing.B) {
		d := completed(b, rack)
		components, container := d.Components, d.Containers[0]
		d.Components, d.Containers = nil, nil
		d.Topology.TopologyTiers, d.Topology.Components = 2, nil
		for i := range 1000 {
			for _, c := range components {
				c.Name = fmt.Sprint(c.Name, i)
				if c.Type == "server" {
					c.Components = append(c.Components[:0:0], c.Components...)
					c.Components[0].Name = fmt.Sprint("nic", i)
				}
				d.Components = append(d.Components, c)
			}
			own := container
			own.Name = fmt.Sprint("rack", i)
			own.Components = append(own.Components[:0:0], own.Components...)
			own.Components[0].Name, own.Components[1].Name = fmt.Sprint("leaf", i), fmt.Sprint("server", i)
			d.Containers = append(d.Containers, own)
			ref := completed(b, rack).Topology.Components[0]
			ref.Name = own.Name
			d.Topology.Components = append(d.Topology.Components, ref)
		}
		spine := components[0]
		spine.Name = "spine"
		d.Components = append(d.Components, spine)
		ref := container.Components[0]
		ref.Name = "spine"
		d.Topology.Components = append(d.Topology.Components, ref)
		for _, f := range validation.Check(d, ready(8000)) {
			if f.Severity == validation.Error {
				b.Fatal(f)
			}
		}
		b.ReportAllocs()
		for b.Loop() {
			validation.Check(d, ready(8000))
		}
	})
}
