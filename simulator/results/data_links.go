package results

import (
	"io"
	"slices"
	"strings"
)

type linkSummary struct {
	Tiers   []tierSummary  `json:"tiers"`
	Series  []tierPoint    `json:"series"`
	Hottest []hotInterface `json:"hottest"`
}

type tierSummary struct {
	Tier       string      `json:"tier"`
	Interfaces int         `json:"interfaces"`
	BytesTx    int64       `json:"bytesTx"`
	BytesRx    int64       `json:"bytesRx"`
	Drops      int64       `json:"drops"`
	Util       utilSummary `json:"utilPercent"`
}

type utilSummary struct {
	Mean millionths `json:"mean"`
	P50  millionths `json:"p50"`
	P99  millionths `json:"p99"`
	Max  millionths `json:"max"`
}

type tierPoint struct {
	SimTime millionths `json:"simTimeSec"`
	Tier    string     `json:"tier"`
	Mean    millionths `json:"meanUtilPercent"`
	Max     millionths `json:"maxUtilPercent"`
}

type hotInterface struct {
	Component string     `json:"componentName"`
	Ifid      int64      `json:"ifid"`
	Direction string     `json:"uldl"`
	Mean      millionths `json:"meanUtilPercent"`
}

// Tiers returns the tiers of a summary, by their number in the result files.
func Tiers() []string { return []string{"ssw", "fsw", "rsw", "nic"} }

// hotInterfaces is the number of interfaces that a summary names.
const hotInterfaces = 10

// linkReader aggregates the rows of nd-stats.
type linkReader struct {
	rows
	tiers  [4]tierFold
	ifcs   []ifcFold
	index  map[string]int // interface by component and device
	points []tierPoint
	at     int64 // sim time of the current interval, ps
	key    []byte
}

type tierFold struct {
	summary tierSummary
	util    histogram // bins of a hundredth of a percent
	now     histogram // of the current interval, one bin
}

type ifcFold struct {
	hotInterface
	sum, count int64
}

// SummarizeLinks writes the nd-stats summary of one tier, or of "all", as
// zstd-compressed JSON. It returns the number of CSV rows that it read. Utilisation
// is that of transmission, averaged over interfaces and intervals.
func SummarizeLinks(w io.Writer, tier string, shards ...io.Reader) (int64, error) {
	r := linkReader{index: map[string]int{}}
	for i, name := range Tiers() {
		r.tiers[i].summary.Tier = name
	}
	for _, shard := range shards {
		if err := r.readShard(shard, tier); err != nil {
			return r.read, err
		}
	}
	r.closeInterval()
	return r.read, writeZstd(w, r.summary())
}

func (r *linkReader) readShard(shard io.Reader, tier string) error {
	c, err := r.columns(shard, "sim_time_sec", "component_name", "ifid", "uldl", "tier",
		"interval_bytes_tx_MB", "interval_bytes_rx_MB", "tx_link_percent_util", "tx_drops")
	if err != nil {
		return err
	}
	for r.next() {
		t := &r.tiers[r.fixed(c[4], 0)&3]
		if tier != "all" && tier != t.summary.Tier {
			continue
		}
		if at := r.fixed(c[0], 12); at != r.at {
			r.closeInterval()
			r.at = at
		}
		util := r.fixed(c[7], 6)
		t.summary.BytesTx += r.fixed(c[5], 6)
		t.summary.BytesRx += r.fixed(c[6], 6)
		t.summary.Drops += r.fixed(c[8], 0)
		t.util.add(int(min(util/10_000, 10_000)), util)
		t.now.add(0, util)
		r.ifc(t, c, util)
	}
	return r.end()
}

// ifc adds the utilisation in a row to its interface.
func (r *linkReader) ifc(t *tierFold, c []int, util int64) {
	r.key = append(append(append(r.key[:0], r.fields[c[1]]...), '/'), r.fields[c[2]]...)
	i, known := r.index[string(r.key)]
	if !known {
		i = len(r.ifcs)
		r.index[string(r.key)] = i
		r.ifcs = append(r.ifcs, ifcFold{hotInterface: hotInterface{
			Component: string(r.fields[c[1]]), Ifid: r.fixed(c[2], 0), Direction: string(r.fields[c[3]]),
		}})
		t.summary.Interfaces++
	}
	r.ifcs[i].sum += util
	r.ifcs[i].count++
}

// closeInterval adds a point of the series for each tier that had rows.
func (r *linkReader) closeInterval() {
	for i := range r.tiers {
		t := &r.tiers[i]
		if t.now.count > 0 {
			r.points = append(r.points, tierPoint{
				SimTime: millionths(r.at / 1_000_000), Tier: t.summary.Tier,
				Mean: millionths(t.now.mean()), Max: millionths(t.now.max),
			})
		}
		t.now = histogram{bins: t.now.bins}
	}
}

func (r *linkReader) summary() linkSummary {
	s := linkSummary{Tiers: []tierSummary{}, Series: r.points, Hottest: []hotInterface{}}
	for i := range r.tiers {
		t := &r.tiers[i]
		if t.util.count == 0 {
			continue
		}
		t.summary.Util = utilSummary{
			Mean: millionths(t.util.mean()), Max: millionths(t.util.max),
			P50: millionths(t.util.percentile(500) * 10_000), P99: millionths(t.util.percentile(990) * 10_000),
		}
		s.Tiers = append(s.Tiers, t.summary)
	}
	for i := range r.ifcs {
		r.ifcs[i].Mean = millionths(r.ifcs[i].sum / r.ifcs[i].count)
	}
	slices.SortStableFunc(r.ifcs, func(a, b ifcFold) int {
		if a.Mean != b.Mean {
			return int(min(max(b.Mean-a.Mean, -1), 1))
		}
		return strings.Compare(a.Component, b.Component)
	})
	for _, i := range r.ifcs[:min(hotInterfaces, len(r.ifcs))] {
		s.Hottest = append(s.Hottest, i.hotInterface)
	}
	return s
}
