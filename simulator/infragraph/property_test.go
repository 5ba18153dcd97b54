package infragraph_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/infragraph"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

// TestAnyFabricComesBackOrIsNoted: whatever the switches, NICs, rates, delays and links, a
// fabric is read back as it was written, or a note of Write says that it is not.
func TestAnyFabricComesBackOrIsNoted(t *testing.T) {
	t.Parallel()
	back, noted := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		l := layouts().Draw(t, "layout")
		d, _, err := presets.FromLayout(l)
		if err != nil {
			return // a server without a link
		}
		want, err := d.Fabric()
		if err != nil {
			t.Fatal(err)
		}
		text, notes, err := infragraph.Write(d)
		if err != nil {
			return // a network that validation refuses
		}
		if slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, "netsim does not read this document back: ") }) {
			noted++
			if _, _, err := infragraph.Read(text); err == nil {
				t.Errorf("it is read, but the notes are %q", notes)
			}
			return
		}
		again, _, err := infragraph.Read(text)
		if err != nil {
			t.Fatalf("%v, and the notes are %q", err, notes)
		}
		got, err := again.Fabric()
		if err != nil {
			t.Fatal(err)
		}
		same := reflect.DeepEqual(got.Nodes, want.Nodes) && reflect.DeepEqual(numbered(got), numbered(want)) && reflect.DeepEqual(got.Hosts, want.Hosts)
		switch said := slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, "read back, ") }); {
		case said:
			noted++
		case same:
			back++
		default:
			t.Errorf("another fabric is read back, and the notes are %q", notes)
		}
	})
	if t.Logf("%d came back, %d were noted", back, noted); back+noted == 0 {
		t.Error("no layout was a network")
	}
}

// numbered returns the links of a fabric, with its bundles numbered as they appear. A rack
// without switches has a bundle without links, which is not read back.
func numbered(f *topology.Fabric) []topology.Link {
	links, numbers := slices.Clone(f.Links), map[int32]int32{}
	for i := range links {
		if _, known := numbers[links[i].Bundle]; !known {
			numbers[links[i].Bundle] = int32(len(numbers))
		}
		links[i].Bundle = numbers[links[i].Bundle]
	}
	return links
}

// layouts generates layouts of few kinds of parts, so that equal and different ones meet.
func layouts() *rapid.Generator[topology.Layout] {
	rate, delay := rapid.SampledFrom([]int64{100e9, 400e9, 2_500_000}), rapid.SampledFrom([]int64{0, 100_000, 7})
	switches := func(t *rapid.T, tier string, most int) []topology.Switch {
		kind := topology.Switch{Component: rapid.SampledFrom([]string{tier, tier, tier, "switch"}).Draw(t, "name"), UpRate: rate.Draw(t, "up"), DownRate: rate.Draw(t, "down"), UpLinkDelay: delay.Draw(t, "delay")}
		if rapid.IntRange(0, 3).Draw(t, "per upper") == 0 {
			kind.PerUpper = 2
		} else {
			kind.UpLinks = rapid.IntRange(0, 5).Draw(t, "up-links")
		}
		return slices.Repeat([]topology.Switch{kind}, rapid.IntRange(0, most).Draw(t, tier))
	}
	rack := func(t *rapid.T) topology.Rack {
		var nics []topology.NIC
		for range rapid.IntRange(1, 3).Draw(t, "NICs") {
			nics = append(nics, topology.NIC{Component: rapid.SampledFrom([]string{"nic", "card"}).Draw(t, "nic"), Rate: rate.Draw(t, "rate"), Delay: delay.Draw(t, "delay")})
		}
		server := topology.Server{Component: "server", NICs: nics}
		return topology.Rack{Switches: switches(t, "leaf", 2), Servers: slices.Repeat([]topology.Server{server}, rapid.IntRange(0, 3).Draw(t, "servers"))}
	}
	racks := func(t *rapid.T) (all []topology.Rack) {
		for range rapid.IntRange(1, 2).Draw(t, "kinds of racks") {
			all = append(all, slices.Repeat([]topology.Rack{rack(t)}, rapid.IntRange(1, 2).Draw(t, "racks"))...)
		}
		return all
	}
	return rapid.Custom(func(t *rapid.T) (l topology.Layout) {
		l.Mesh, l.LinksPerPair = rapid.Bool().Draw(t, "mesh"), rapid.IntRange(0, 2).Draw(t, "links per pair")
		l.Spine = switches(t, "spine", 3)
		for range rapid.IntRange(0, 2).Draw(t, "pods") {
			l.Pods = append(l.Pods, topology.Pod{Switches: switches(t, "fabric", 3), Racks: racks(t)})
		}
		if len(l.Pods) == 0 || rapid.IntRange(0, 9).Draw(t, "racks in the topology") == 0 {
			l.Racks = racks(t)
		}
		return l
	})
}
