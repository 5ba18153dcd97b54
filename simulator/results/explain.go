package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// conventions defines the figures of summary.json, in that file.
const conventions = "Us is microseconds, GB 10^9 bytes. Algorithm bandwidth is the size of a collective (of allGather the size times the " +
	"ranks) over its run time; bus bandwidth is that times 2(N-1)/N for allReduce, 1 for broadcast, (N-1)/N for others. The ideal time " +
	"is the closed form of the algorithm at the NICs' rate without latency, the slowdown the run time over it. Utilisation is wire bits " +
	"sent over what the interface could have sent, over the whole run. Flow time is how long transfers drained, summed over them: at " +
	"every instant one resource limits each."

// Explained is the part of summary.json that says why the run took as long as it did.
type Explained struct {
	Conventions  string        `json:"conventions"`
	Kinds        []kindSummary `json:"collectiveKinds"` // the first maxKinds, of groups of at least two
	MoreKinds    int           `json:"collectiveKindsOmitted,omitempty"`
	RankTime     *rankTime     `json:"rankTime,omitempty"`     // nil without collectives and computations
	TransferTime *transferTime `json:"transferTime,omitempty"` // nil if flow time and transfer time do not compare
	Links        []linkUse     `json:"linkUtilization"`
	LimitedBy    []limitShare  `json:"limitedBy"`   // by kind, tier and direction, the largest share first
	Bottlenecks  []bottleneck  `json:"bottlenecks"` // the resources that limited most, at most ten
	CriticalPath *criticalPath `json:"criticalPath,omitempty"`
	Stragglers   *stragglers   `json:"stragglers,omitempty"`
	Reading      []string      `json:"reading"` // the figures above as sentences
}

// kindSummary is the summary of a row of collective-percentiles.
type kindSummary struct {
	OperationType string     `json:"operationType"`
	Algorithm     string     `json:"algorithm"`
	SizeBytes     int64      `json:"sizeBytes"`
	GroupSize     int        `json:"groupSize"`
	Count         int        `json:"count"` // finished
	IdealTime     millionths `json:"idealTimeUs"`
	MeanRunTime   millionths `json:"meanRunTimeUs"`
	P99RunTime    millionths `json:"p99RunTimeUs"`
	MeanSlowdown  millionths `json:"meanSlowdownRatio"`
	P99Slowdown   millionths `json:"p99SlowdownRatio"`
	Algorithmic   millionths `json:"meanAlgorithmBandwidthGBps"`
	Bus           millionths `json:"meanBusBandwidthGBps"`
}

// rankTime divides the time of the ranks from the start to the end of each.
// Computations of a rank's accelerator and its host's processor may overlap.
type rankTime struct {
	MeanTime     millionths `json:"meanTimeUs"`
	MeanCompute  millionths `json:"meanComputeTimeUs"`
	MeanExposed  millionths `json:"meanExposedCommunicationTimeUs"` // time without computation
	ExposedShare millionths `json:"exposedCommunicationPercent"`
}

// transferTime divides the time of the transfers.
type transferTime struct {
	Draining millionths `json:"drainingPercent"` // while bytes were sent
	Latency  millionths `json:"latencyPercent"`  // the rest: waits, propagation, store-and-forward, acknowledgement
}

// linkUse is the utilisation of the interfaces of a tier in one direction.
type linkUse struct {
	Tier       string     `json:"tier"`
	Direction  string     `json:"uldl"`
	Interfaces int        `json:"interfaces"`
	Mean       millionths `json:"meanPercent"`
	P99        millionths `json:"p99Percent"`
	Max        millionths `json:"maxPercent"`
}

// limitShare is the part of the flow time in which resources of one kind were the limit.
type limitShare struct {
	Kind      string      `json:"kind"` // links, switching or scaleUpPort
	Tier      string      `json:"tier,omitempty"`
	Direction string      `json:"uldl,omitempty"`
	Percent   millionths  `json:"flowTimePercent"`
	FlowTime  json.Number `json:"flowTimeUs"`
	Bytes     int64       `json:"wireBytes"` // sent while they were the limit

	time big.Int // flow·ps
	bits int64
}

// bottleneck is one resource that limited flows.
type bottleneck struct {
	Name        string      `json:"name"`
	Rate        millionths  `json:"rateGbps,omitempty"`
	Utilization *millionths `json:"utilizationPercent,omitempty"` // of links
	limitShare
}

// explain returns why the run took as long as it did.
func (r *Recorder) explain(result *engine.Result) Explained {
	x := Explained{
		Conventions: conventions, Kinds: r.kindSummaries(),
		CriticalPath: r.critical, Stragglers: r.stragglers(),
		Links: r.linkUses(result.Time), LimitedBy: []limitShare{}, Bottlenecks: []bottleneck{},
	}
	if result.CollectivesTotal > 0 || result.ComputationsTotal > 0 {
		x.RankTime = r.split.summary()
	}
	var total big.Int
	for i := range result.Limits {
		total.Add(&total, result.Limits[i].FlowTime.Big())
	}
	for i := range result.Limits {
		x.limit(r, &result.Limits[i], result.Time)
	}
	for i := range x.LimitedBy {
		x.LimitedBy[i].close(&total)
	}
	for i := range x.Bottlenecks {
		x.Bottlenecks[i].close(&total)
	}
	// After a warm-up not all transfers are measured. The drain times of a striped
	// transfer's flows may add up to more than the transfer takes.
	if all := result.LatencySum.Big(); result.Measured == result.Sends && all.Sign() > 0 && total.Cmp(all) <= 0 {
		draining := percent(&total, all)
		x.TransferTime = &transferTime{draining, 100_000_000 - draining}
	}
	var unlisted int64
	if r.config.MaxTransfers > 0 && r.listed == r.config.MaxTransfers {
		unlisted = result.Sends - r.listed
	}
	x.Reading = x.read(unlisted)
	if over := len(x.Kinds) - maxKinds; over > 0 {
		x.Kinds, x.MoreKinds = x.Kinds[:maxKinds], over
	}
	return x
}

// maxKinds keeps summary.json short; collective-percentiles has all kinds.
const maxKinds = 100

// bottlenecks is the number of resources that a summary names.
const bottlenecks = 10

// limit adds a resource to LimitedBy and Bottlenecks. Of the many that limited flows only the
// bottlenecks are described.
func (x *Explained) limit(r *Recorder, l *engine.Limit, elapsed int64) {
	b := bottleneck{limitShare: r.limitShare(l)}
	at := slices.IndexFunc(x.LimitedBy, func(s limitShare) bool {
		return s.Kind == b.Kind && s.Tier == b.Tier && s.Direction == b.Direction
	})
	if at < 0 {
		at = len(x.LimitedBy)
		x.LimitedBy = append(x.LimitedBy, limitShare{Kind: b.Kind, Tier: b.Tier, Direction: b.Direction})
	}
	share := &x.LimitedBy[at]
	share.time.Add(&share.time, &b.time)
	share.bits += b.bits
	for ; at > 0 && x.LimitedBy[at].time.Cmp(&x.LimitedBy[at-1].time) > 0; at-- {
		x.LimitedBy[at], x.LimitedBy[at-1] = x.LimitedBy[at-1], x.LimitedBy[at]
	}
	index, _ := slices.BinarySearchFunc(x.Bottlenecks, b, func(a, b bottleneck) int {
		return cmp.Or(b.time.Cmp(&a.time), -1) // after equal ones
	})
	if index < bottlenecks {
		b.Name = r.limitName(l)
		if l.Kind == engine.LimitLinks {
			b.Rate, b.Utilization = r.limitUse(l, elapsed)
		}
		x.Bottlenecks = slices.Insert(x.Bottlenecks, index, b)
		x.Bottlenecks = x.Bottlenecks[:min(len(x.Bottlenecks), bottlenecks)]
	}
}

// close computes the exported figures from the sums.
func (s *limitShare) close(total *big.Int) {
	s.Percent, s.FlowTime, s.Bytes = percent(&s.time, total), microseconds(&s.time), s.bits/8
}

// percent returns the part as a percentage of the whole, rounded to a millionth of a percent.
func percent(part, whole *big.Int) millionths {
	if whole.Sign() == 0 {
		return 0
	}
	scaled := new(big.Int).Mul(part, big.NewInt(200_000_000))
	scaled.Add(scaled, whole)
	return millionths(scaled.Quo(scaled, new(big.Int).Lsh(whole, 1)).Int64())
}

// microseconds formats picoseconds as microseconds.
func microseconds(ps *big.Int) json.Number {
	whole, rest := new(big.Int).QuoRem(ps, big.NewInt(1_000_000), new(big.Int))
	text, _ := millionths(rest.Int64()).MarshalJSON() // "0" or "0.5"
	return json.Number(whole.String() + string(text[1:]))
}

// limitShare returns what a resource that limited flows adds to those of its kind.
func (r *Recorder) limitShare(l *engine.Limit) limitShare {
	f := r.config.Fabric
	s := limitShare{time: *l.FlowTime.Big(), bits: l.Bits}
	switch l.Kind {
	case engine.LimitPort:
		s.Kind, s.Direction = LimitedByPort, direction(l.Down)
	case engine.LimitSwitch:
		s.Kind, s.Tier = LimitedBySwitching, tierName(f, l.Of)
	default:
		from, _ := ends(&f.Links[l.Links[0]], l.Down)
		s.Kind, s.Tier, s.Direction = "links", tierName(f, from.node), direction(l.Down)
	}
	return s
}

// limitName names a resource that limited flows.
func (r *Recorder) limitName(l *engine.Limit) string {
	f := r.config.Fabric
	switch l.Kind {
	case engine.LimitPort:
		return "scale-up port of rank " + strconv.Itoa(int(l.Of)) + map[bool]string{false: ", out", true: ", in"}[l.Down]
	case engine.LimitSwitch:
		return "switching capacity of " + f.Nodes[l.Of].Name()
	}
	from, to := ends(&f.Links[l.Links[0]], l.Down)
	if len(l.Links) == 1 {
		return f.Nodes[from.node].Name() + " " + device(from.port) + " to " + f.Nodes[to.node].Name() + " " + device(to.port)
	}
	lastFrom, lastTo := ends(&f.Links[l.Links[len(l.Links)-1]], l.Down)
	return fmt.Sprintf("%d links from %s to %s", len(l.Links), span(f, from.node, lastFrom.node), span(f, to.node, lastTo.node))
}

// limitUse returns the rate and the utilisation of links that limited flows.
func (r *Recorder) limitUse(l *engine.Limit, elapsed int64) (millionths, *millionths) {
	down := 0
	if l.Down {
		down = 1
	}
	var rate, bits int64
	for _, id := range l.Links {
		rate += r.config.Fabric.Links[id].Rate
		if r.totals.Bits != nil {
			bits += r.totals.Bits[2*int(id)+down]
		}
	}
	used := utilization(bits, rate, elapsed)
	return millionths(rate / 1000), &used
}

// linkEnd is where a link is connected.
type linkEnd struct{ node, port int32 }

// ends returns from where to where a link carries in a direction.
func ends(l *topology.Link, down bool) (from, to linkEnd) {
	from, to = linkEnd{l.Lower, l.LowerPort}, linkEnd{l.Upper, l.UpperPort}
	if down {
		return to, from
	}
	return from, to
}

// span returns the name of one node, or the names of the first and the last of several.
func span(f *topology.Fabric, first, last int32) string {
	if first == last {
		return f.Nodes[first].Name()
	}
	return f.Nodes[first].Name() + " … " + f.Nodes[last].Name()
}

func direction(down bool) string {
	if down {
		return "dl"
	}
	return "ul"
}

func tierName(f *topology.Fabric, node int32) string { return Tiers()[f.Nodes[node].Tier] }

// utilization returns bits over what the rate could have sent in the ps.
func utilization(bits, rate, elapsed int64) millionths {
	sent := new(big.Int).Mul(big.NewInt(bits), big.NewInt(1_000_000_000_000))
	return percent(sent, new(big.Int).Mul(big.NewInt(rate), big.NewInt(elapsed)))
}
