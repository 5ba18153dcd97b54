package topology_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/topology"
)

// TestDeriveReference compares the derivation with every row of the reference
// table, column by column.
func TestDeriveReference(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/clos_derivation.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	head := rows[0]
	for _, row := range rows[1:] {
		want := map[string]string{}
		for i, name := range head {
			want[name] = row[i]
		}
		name := strings.Join(row[:3], " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranks, _ := strconv.Atoi(want["ranks"])
			d, err := topology.Derive(topology.Constraints{
				SwitchRadix: want["switchRadix"], SubscriptionRatio: want["subscriptionRatio"],
			}, ranks)
			if err != nil {
				t.Fatal(err)
			}
			for column, got := range columnsOf(d) {
				if got != want[column] {
					t.Errorf("%s = %s, want %s", column, got, want[column])
				}
			}
		})
	}
	if len(rows) != 91 {
		t.Fatalf("%d rows, want 90 and a header", len(rows))
	}
}

func columnsOf(d topology.Derivation) map[string]string {
	tier := func(name string) topology.Tier {
		for _, t := range d.Tiers {
			if t.Name == name {
				return t
			}
		}
		return topology.Tier{}
	}
	percent := func(t topology.Tier) string {
		if t.SwitchCount == 0 {
			return ""
		}
		s := strconv.FormatFloat(t.SwitchCapacityUtilization, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	rsw, fsw, ssw := tier("RSW"), tier("FSW"), tier("SSW")
	columns := map[string]string{
		"RSW_util": percent(rsw), "FSW_util": percent(fsw), "SSW_util": percent(ssw),
	}
	for name, v := range map[string]int{
		"portGbps": d.Resolved.SwitchLinkSpeed, "switchingCapacityGbps": d.Resolved.SwitchingCapacityGbps,
		"tierCount": d.TierCount, "pods": d.Pods,
		"RSW": rsw.SwitchCount, "RSW_down": rsw.DownlinksPerSwitch, "RSW_up": rsw.UplinksPerSwitch,
		"FSW": fsw.SwitchCount, "FSW_down_max": fsw.DownlinksPerSwitch, "FSW_up": fsw.UplinksPerSwitch,
		"SSW": ssw.SwitchCount, "SSW_down": ssw.DownlinksPerSwitch,
		"hostToRsw": d.Links.HostToRsw, "rswToFsw": d.Links.RswToFsw, "fswToSsw": d.Links.FswToSsw,
		"emptyHostPorts": d.EmptyHostPorts,
	} {
		columns[name] = strconv.Itoa(v)
	}
	return columns
}

func TestDeriveWorkedExample(t *testing.T) {
	t.Parallel()
	got, err := topology.Derive(topology.Constraints{}, 128)
	if err != nil {
		t.Fatal(err)
	}
	want := topology.Derivation{
		TierCount: 2, TotalHosts: 128, RanksPerHost: 1, RanksPerRack: 64,
		Tiers: []topology.Tier{
			{
				Name: "RSW", SwitchCount: 2, DownlinksPerSwitch: 64, UplinksPerSwitch: 64,
				DownlinkDataRateGbps: 400, UplinkDataRateGbps: 400,
				EffectiveSubscriptionRatio: "1:1", SwitchCapacityUtilization: 100,
			},
			{
				Name: "FSW", SwitchCount: 1, DownlinksPerSwitch: 128,
				DownlinkDataRateGbps: 400, SwitchCapacityUtilization: 100,
			},
		},
		Links: topology.Counts{HostToRsw: 128, RswToFsw: 128},
		Resolved: topology.Resolved{
			SwitchRadix: "128x400G", SubscriptionRatio: "1:1", NicNetworkPortSpeed: 400,
			EffectiveNicSpeed: 400, SwitchLinkSpeed: 400, SwitchingCapacityGbps: 51200,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDeriveRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		radix, ratio string
		ranks        int
		want         string
	}{
		{"64x800G", "1:1", 65537, "65537 ranks exceed the 65536 supported by 64x800G at 1:1"},
		{"256x200G", "4:1", 70000, "70000 ranks exceed the 65536 supported by 256x200G at 4:1"},
		{"32x800G", "1:1", 8, "topologyConstraints.switchRadix must be one of [64x800G, 128x400G, 256x200G], got '32x800G'"},
		{"64x800G", "5:1", 8, "topologyConstraints.subscriptionRatio must be one of [1:1, 2:1, 3:1, 4:1], got '5:1'"},
		{"", "", 0, "ranks must be between 1 and 65536, got 0"},
	} {
		_, err := topology.Derive(topology.Constraints{SwitchRadix: c.radix, SubscriptionRatio: c.ratio}, c.ranks)
		if fmt.Sprint(err) != c.want {
			t.Errorf("%v: got error %v, want %s", c, err, c.want)
		}
	}
}
