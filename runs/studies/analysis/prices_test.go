package analysis_test

import (
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/runs/studies/analysis"
	"netsim/simulator/collective"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

// TestPricesByHand: a fabric of two tiers costs what its parts cost, added by hand.
func TestPricesByHand(t *testing.T) {
	t.Parallel()
	// Radix 64x800G at 3:1: 48 hosts a rack, 16 uplinks; 96 ranks are two racks, and one
	// switch has the 32 uplinks.
	d, err := topology.Derive(topology.Constraints{SwitchRadix: "64x800G", SubscriptionRatio: "3:1"}, 96)
	if err != nil {
		t.Fatal(err)
	}
	list := analysis.CurrentPrices()
	b, err := list.Bill(analysis.DerivedFabric(&d), false)
	if err != nil {
		t.Fatal(err)
	}
	price := 2*60000 + 35000 + 96*(3000+320) + 32*1900 // 25.6 Tb/s at the upper switch
	watts := 2*1600 + 1000 + 96*45 + 32*30             // and 0.2 W for each of 96 cables
	if want := apd.New(int64(price), 0); b.Price.Cmp(want) != 0 || analysis.DecimalText(b.Price) != "534520" {
		t.Errorf("the price is %s, want %s", b.Price, want)
	}
	if want := apd.New(int64(watts)*10+192, -1); b.Watts.Cmp(want) != 0 || analysis.DecimalText(b.Watts) != "9499.2" {
		t.Errorf("the power is %s W, want %s", b.Watts, want)
	}
}

// TestDerivedIsWired: the parts of a derived fabric are those of the network that is wired for it.
func TestDerivedIsWired(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := topology.Constraints{
			SwitchRadix:       rapid.SampledFrom(topology.Radixes()).Draw(t, "radix"),
			SubscriptionRatio: rapid.SampledFrom(topology.Ratios()).Draw(t, "ratio"),
		}
		ranks := rapid.IntRange(2, 6000).Draw(t, "ranks")
		simple, d, err := presets.NewSimple(&c, &collective.Workload{Ranks: ranks, Phases: []collective.Phase{{OperationType: "allReduce", Algorithm: "ring", DataSize: 1024}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		document, err := simple.Document()
		if err != nil {
			t.Fatal(err)
		}
		f, err := document.Fabric()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(analysis.DerivedFabric(&d), analysis.WiredFabric(f)); diff != "" {
			t.Fatalf("%v, %d ranks (-derived +wired):\n%s", c, ranks, diff)
		}
	})
}

// TestMorePartsCostMore: no part is free, and more of it, or a faster one, never costs less.
func TestMorePartsCostMore(t *testing.T) {
	t.Parallel()
	list := analysis.CurrentPrices()
	rapid.Check(t, func(t *rapid.T) {
		parts := func(label string) []analysis.Parts {
			return []analysis.Parts{{Rate: rapid.Int64Range(1, 400_000).Draw(t, label+" Gbit/s") * 1_000_000_000, Count: rapid.Int64Range(1, 1000).Draw(t, label)}}
		}
		f := analysis.Fabric{Switches: parts("switches"), NICs: parts("NICs"), Copper: parts("copper"), Optical: parts("optical")}
		before, err := list.Bill(&f, false)
		if err != nil {
			t.Fatal(err)
		}
		kind := rapid.SampledFrom([][]analysis.Parts{f.Switches, f.NICs, f.Copper, f.Optical}).Draw(t, "kind")
		more := rapid.Bool().Draw(t, "more")
		if more {
			kind[0].Count++
		} else {
			kind[0].Rate += rapid.Int64Range(0, 100_000_000_000_000).Draw(t, "faster")
		}
		after, err := list.Bill(&f, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []int{after.Price.Cmp(before.Price), after.Watts.Cmp(before.Watts)} {
			if d < 0 || more && d == 0 {
				t.Fatalf("%v: from %s and %s W to %s and %s W", f, before.Price, before.Watts, after.Price, after.Watts)
			}
		}
	})
}

// TestListIsInOrder: classes ascend in rate, price and power, so that prices are monotone.
func TestListIsInOrder(t *testing.T) {
	t.Parallel()
	list := analysis.CurrentPrices()
	for name, classes := range map[string][]analysis.PriceClass{"switches": list.Switches, "NICs": list.NICs, "copper": list.Copper, "optical": list.Optical} {
		for i := 1; i < len(classes); i++ {
			below, at := classes[i-1], classes[i]
			for figure, pair := range map[string][2]string{"price": {below.Price, at.Price}, "power": {below.Watts, at.Watts}} {
				a, _, err := apd.NewFromString(pair[0])
				if err != nil {
					t.Fatal(err)
				}
				b, _, err := apd.NewFromString(pair[1])
				if err != nil || below.Gbps >= at.Gbps || a.Cmp(b) > 0 || a.Sign() <= 0 {
					t.Errorf("%s: the %s of %d Gbit/s is %s, of %d Gbit/s %s (%v)", name, figure, below.Gbps, a, at.Gbps, b, err)
				}
			}
		}
	}
}
