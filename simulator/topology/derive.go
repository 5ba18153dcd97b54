// Package topology derives Clos fabrics from a rank count and hardware
// constraints, wires them node by node and link by link, and routes over them.
//
// It is pure: the same input gives the same fabric and the same routes on any
// machine. Sources: completions.md sections 3.2 (wiring, names), 4.2
// (derivation).
package topology

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxRanks is the largest number of ranks of a derived fabric, even if the radix
// allows more.
const MaxRanks = 65536

// Defaults of the constraints that a request leaves out.
const (
	DefaultRadix = "128x400G"
	DefaultRatio = "1:1"
)

// Constraints describe the hardware of a derived fabric. An empty member means its
// default.
type Constraints struct {
	SwitchRadix       string `json:"switchRadix,omitempty"`
	SubscriptionRatio string `json:"subscriptionRatio,omitempty"`
}

// Derivation is a derived Clos fabric in numbers: the topology preview of
// completions.md 4.2. Rates are in Gb/s.
type Derivation struct {
	TierCount    int      `json:"tierCount"`
	TotalHosts   int      `json:"totalHosts"`
	RanksPerHost int      `json:"ranksPerHost"`
	RanksPerRack int      `json:"ranksPerRack"`
	Tiers        []Tier   `json:"tiers"` // lowest first
	Links        Counts   `json:"links"`
	Resolved     Resolved `json:"resolvedConstraints"`

	// Pods is the number of pods; 0 below three tiers.
	Pods int `json:"-"`
	// EmptyHostPorts counts the host ports of rack switches that have no host.
	EmptyHostPorts int `json:"-"`
}

// Tier is one layer of equal switches.
type Tier struct {
	Name                       string  `json:"name"`
	SwitchCount                int     `json:"switchCount"`
	DownlinksPerSwitch         int     `json:"downlinksPerSwitch"`
	UplinksPerSwitch           int     `json:"uplinksPerSwitch"`
	DownlinkDataRateGbps       int     `json:"downlinkDataRateGbps"`
	UplinkDataRateGbps         int     `json:"uplinkDataRateGbps"`
	EffectiveSubscriptionRatio string  `json:"effectiveSubscriptionRatio,omitempty"` // RSW only
	SwitchCapacityUtilization  float64 `json:"switchCapacityUtilization"`            // percent, 2 decimals
}

// Counts are the links between the tiers.
type Counts struct {
	HostToRsw int `json:"hostToRsw"`
	RswToFsw  int `json:"rswToFsw"`
	FswToSsw  int `json:"fswToSsw"`
}

// Resolved are the constraints with their defaults filled in and what follows
// from them.
type Resolved struct {
	SwitchRadix           string `json:"switchRadix"`
	SubscriptionRatio     string `json:"subscriptionRatio"`
	NicNetworkPortSpeed   int    `json:"nicNetworkPortSpeed"`
	EffectiveNicSpeed     int    `json:"effectiveNicSpeed"`
	SwitchLinkSpeed       int    `json:"switchLinkSpeed"`
	SwitchingCapacityGbps int    `json:"switchingCapacityGbps"`
}

// Radixes lists the switch radixes that a request may name.
func Radixes() []string { return []string{"64x800G", "128x400G", "256x200G"} }

// Ratios lists the subscription ratios that a request may name.
func Ratios() []string { return []string{"1:1", "2:1", "3:1", "4:1"} }

// Derive returns the smallest Clos fabric that satisfies the constraints and holds
// the ranks, one rank per host. Every error is the client's; its text is the message
// of completions.md 4.1.
func Derive(c Constraints, ranks int) (Derivation, error) {
	b, err := newBlocks(c)
	if err != nil {
		return Derivation{}, err
	}
	if ranks < 1 {
		return Derivation{}, fmt.Errorf("ranks must be between 1 and %d, got %d", MaxRanks, ranks)
	}
	switch {
	case ranks > min(b.threeTierMax(), MaxRanks):
		return Derivation{}, fmt.Errorf("%d ranks exceed the %d supported by %s at %s",
			ranks, min(b.threeTierMax(), MaxRanks), b.radix, b.ratio)
	case ranks <= b.down:
		return b.oneTier(ranks), nil
	case ranks <= b.ports*b.down:
		return b.twoTiers(ranks), nil
	default:
		return b.threeTiers(ranks), nil
	}
}

// blocks holds the numbers that every derivation uses. A switch has P ports of v
// Gb/s. A rack switch has d ports for hosts and u for uplinks. d:u is exactly the
// ratio; ports left over stay unused.
type blocks struct {
	radix, ratio string
	ports, speed int // P, v
	down, up     int // d, u
}

func newBlocks(c Constraints) (blocks, error) {
	b := blocks{radix: c.SwitchRadix, ratio: c.SubscriptionRatio}
	if b.radix == "" {
		b.radix = DefaultRadix
	}
	if b.ratio == "" {
		b.ratio = DefaultRatio
	}
	if !slices.Contains(Radixes(), b.radix) {
		return b, fmt.Errorf("topologyConstraints.switchRadix must be one of [%s], got '%s'",
			strings.Join(Radixes(), ", "), b.radix)
	}
	if !slices.Contains(Ratios(), b.ratio) {
		return b, fmt.Errorf("topologyConstraints.subscriptionRatio must be one of [%s], got '%s'",
			strings.Join(Ratios(), ", "), b.ratio)
	}
	ports, speed, _ := strings.Cut(strings.TrimSuffix(b.radix, "G"), "x")
	b.ports, _ = strconv.Atoi(ports)
	b.speed, _ = strconv.Atoi(speed)
	ratio, _ := strconv.Atoi(strings.TrimSuffix(b.ratio, ":1"))
	b.up = b.ports / (ratio + 1)
	b.down = ratio * b.up
	return b, nil
}

func (b blocks) threeTierMax() int { return b.ports / 2 * b.ports * b.down }

func (b blocks) oneTier(ranks int) Derivation {
	d := b.derivation(1, ranks, ranks)
	rsw := b.tier("RSW", 1, ranks, 0, ranks)
	rsw.EffectiveSubscriptionRatio = "1:1"
	d.Tiers = []Tier{rsw}
	return d
}

func (b blocks) twoTiers(ranks int) Derivation {
	d := b.derivation(2, ranks, b.down)
	racks := ceilDiv(ranks, b.down)
	uplinks := racks * b.up
	fabric := ceilDiv(uplinks, b.ports)
	d.Links.RswToFsw = uplinks
	d.EmptyHostPorts = racks*b.down - ranks
	d.Tiers = []Tier{
		b.rackTier(racks, ranks),
		b.tier("FSW", fabric, ceilDiv(uplinks, fabric), 0, uplinks),
	}
	return d
}

// threeTiers derives whole pods, each of P/2 racks and u fabric switches. The
// number of pods is even, so that every port of the spine is used.
func (b blocks) threeTiers(ranks int) Derivation {
	d := b.derivation(3, ranks, b.down)
	half := b.ports / 2
	d.Pods = ceilDiv(ranks, half*b.down)
	d.Pods += d.Pods % 2
	racks, fabric, spine := d.Pods*half, d.Pods*b.up, d.Pods*b.up/2
	d.Links.RswToFsw = racks * b.up
	d.Links.FswToSsw = fabric * half
	d.EmptyHostPorts = racks*b.down - ranks
	d.Tiers = []Tier{
		b.rackTier(racks, ranks),
		b.tier("FSW", fabric, half, half, racks*b.up+fabric*half),
		b.tier("SSW", spine, b.ports, 0, fabric*half),
	}
	return d
}

func (b blocks) derivation(tiers, ranks, perRack int) Derivation {
	return Derivation{
		TierCount: tiers, TotalHosts: ranks, RanksPerHost: 1, RanksPerRack: perRack,
		Links: Counts{HostToRsw: ranks},
		Resolved: Resolved{
			SwitchRadix: b.radix, SubscriptionRatio: b.ratio,
			NicNetworkPortSpeed: b.speed, EffectiveNicSpeed: b.speed, SwitchLinkSpeed: b.speed,
			SwitchingCapacityGbps: b.ports * b.speed,
		},
	}
}

func (b blocks) rackTier(racks, ranks int) Tier {
	t := b.tier("RSW", racks, b.down, b.up, ranks+racks*b.up)
	g := gcd(b.down, b.up)
	t.EffectiveSubscriptionRatio = fmt.Sprintf("%d:%d", b.down/g, b.up/g)
	return t
}

// tier describes one layer. links is the number of link ends at all its switches;
// a partly filled rack counts only the links that it has.
func (b blocks) tier(name string, switches, down, up, links int) Tier {
	t := Tier{Name: name, SwitchCount: switches, DownlinksPerSwitch: down, UplinksPerSwitch: up}
	if down > 0 {
		t.DownlinkDataRateGbps = b.speed
	}
	if up > 0 {
		t.UplinkDataRateGbps = b.speed
	}
	// The reference table rounds halves to even.
	t.SwitchCapacityUtilization = math.RoundToEven(float64(10000*links)/float64(switches*b.ports)) / 100
	return t
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
