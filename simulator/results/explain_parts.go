package results

import (
	"fmt"
	"slices"

	"netsim/simulator/engine"
	"netsim/simulator/snapshot"
	"netsim/simulator/topology"
)

// split sums up the time of the ranks.
type split struct {
	ranks                  int64
	time, compute, exposed engine.Sum // ps
}

func (s *split) add(k *engine.Rank) {
	s.ranks++
	s.time.Add(k.Time)
	s.compute.Add(k.ComputeTime)
	s.exposed.Add(max(k.Time-k.ComputeTime, 0))
}

func (s *split) visit(c *snapshot.Codec) {
	snapshot.Int(c, &s.ranks)
	for _, sum := range []*engine.Sum{&s.time, &s.compute, &s.exposed} {
		snapshot.Uint(c, &sum.Hi)
		snapshot.Uint(c, &sum.Lo)
	}
}

func (s *split) summary() *rankTime {
	if s.ranks == 0 {
		return nil
	}
	return &rankTime{
		MeanTime: millionths(s.time.Mean(s.ranks)), MeanCompute: millionths(s.compute.Mean(s.ranks)),
		MeanExposed: millionths(s.exposed.Mean(s.ranks)), ExposedShare: percent(s.exposed.Big(), s.time.Big()),
	}
}

// kindSummaries summarizes each class of collectives, in the order in which their first
// collectives finished. The runs and ratios of each class must be sorted.
func (r *Recorder) kindSummaries() []kindSummary {
	kinds := []kindSummary{}
	for i := range r.classes {
		k := &r.classes[i]
		c := &k.sample
		bandwidth := k.bandwidth()
		kinds = append(kinds, kindSummary{
			OperationType: c.OperationType, Algorithm: c.Algorithm, SizeBytes: c.DataSize, GroupSize: c.GroupSize,
			Count: len(k.runs), IdealTime: millionths(c.Ideal),
			MeanRunTime: millionths(mean(k.runs)), P99RunTime: millionths(percentile(k.runs, 990)),
			MeanSlowdown: millionths(mean(k.ratios)), P99Slowdown: millionths(percentile(k.ratios, 990)),
			Algorithmic: millionths(bandwidth / 1000), Bus: millionths(ratio(bandwidth, c.BusNum, c.BusDen) / 1000),
		})
	}
	return kinds
}

// linkUses returns the utilisation of the interfaces, by the tier that sends.
func (r *Recorder) linkUses(elapsed int64) []linkUse {
	uses := []linkUse{}
	if r.totals.Bits == nil {
		return uses
	}
	f := r.config.Fabric
	var used [topology.TierServer][2][]int64
	for i := range f.Links {
		l := &f.Links[i]
		for down, sender := range [2]int32{l.Lower, l.Upper} {
			list := &used[f.Nodes[sender].Tier][down]
			*list = append(*list, int64(utilization(r.totals.Bits[2*i+down], l.Rate, elapsed)))
		}
	}
	for tier, name := range Tiers() {
		for down, list := range used[tier] {
			if len(list) == 0 {
				continue
			}
			slices.Sort(list)
			uses = append(uses, linkUse{
				Tier: name, Direction: direction(down == 1), Interfaces: len(list),
				Mean: millionths(mean(list)), P99: millionths(percentile(list, 990)), Max: millionths(list[len(list)-1]),
			})
		}
	}
	return uses
}

// read returns the figures as sentences. unlisted is the number of transfers that the
// per-transfer record does not list.
func (x *Explained) read(unlisted int64) []string {
	sentences := []string{}
	add := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	if len(x.LimitedBy) > 0 {
		var own, rest, switching millionths // shares of the servers' links and ports; of all else; of switches alone
		for i := range x.LimitedBy {
			s := &x.LimitedBy[i]
			if s.ofServers() {
				own += s.Percent
			} else {
				rest += s.Percent
			}
			if s.Kind == LimitedBySwitching {
				switching += s.Percent
			}
		}
		most := &x.LimitedBy[0]
		add("%s limited transfers for %s %% of their flow time, and %s most of all.", most.words(), tenths(most.Percent), x.Bottlenecks[0].Name)
		switch {
		case own >= rest:
			add("The servers' own links and ports limited %s %% of the flow time: another topology shortens only the other %s %%, and latency.", tenths(own), tenths(rest))
		case switching > rest-switching:
			add("The switches limited %s %% of the flow time by their capacity: a larger SwitchingCapacity helps there, and more or faster links do not.", tenths(switching))
		default:
			add("The network between the racks limited %s %% of the flow time: there more or faster links help.", tenths(rest))
		}
		if switching > 0 && (own >= rest || switching <= rest-switching) {
			add("Of it, the switches' own capacity limited %s %%: there a larger SwitchingCapacity helps.", tenths(switching))
		}
	}
	if t := x.TransferTime; t != nil && t.Latency > t.Draining {
		add("Transfers took %s %% of their time for latency: faster links change at most the other %s %%.", tenths(t.Latency), tenths(t.Draining))
	}
	if t := x.RankTime; t != nil && t.MeanCompute > 0 {
		add("Ranks waited for communication for %s %% of their time and computed in the rest: no network makes them faster than that.", tenths(t.ExposedShare))
	}
	if x.Stragglers != nil {
		sentences = append(sentences, x.Stragglers.read(x.CriticalPath))
	}
	if x.CriticalPath != nil {
		sentences = append(sentences, x.CriticalPath.Sentence)
	}
	if unlisted > 0 {
		add("perf lists only the first transfers that finished; %d more are in the sums.", unlisted)
	}
	if len(x.Kinds) > 0 {
		worst := slices.MaxFunc(x.Kinds, func(a, b kindSummary) int { return int(min(max(a.MeanSlowdown-b.MeanSlowdown, -1), 1)) })
		add("Furthest from its ideal time is %s %s of %d bytes over %d ranks: %s times, at a bus bandwidth of %s GB/s.",
			worst.OperationType, worst.Algorithm, worst.SizeBytes, worst.GroupSize, tenths(worst.MeanSlowdown), tenths(worst.Bus))
	}
	return sentences
}

// Kinds of limits that are no links, in summary.json.
const (
	LimitedByPort      = "scaleUpPort"
	LimitedBySwitching = "switching" // a switch's own capacity
)

// ofServers reports whether the resources are NICs' links, in either direction,
// or scale-up ports.
func (s *limitShare) ofServers() bool {
	return s.Kind == LimitedByPort || s.Kind == "links" && (s.Tier == "nic" || s.Tier == "rsw" && s.Direction == "dl")
}

// words describes the resources of a share.
func (s *limitShare) words() string {
	switch s.Kind {
	case LimitedByPort:
		return "Scale-up ports"
	case LimitedBySwitching:
		return "The switching capacity of tier " + s.Tier
	}
	return "Links from tier " + s.Tier + map[string]string{"ul": " upwards", "dl": " downwards"}[s.Direction]
}

// tenths formats a figure with one decimal.
func tenths(m millionths) string {
	m = (m + 50_000) / 100_000
	return fmt.Sprintf("%d.%d", m/10, m%10)
}
