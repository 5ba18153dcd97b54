package results

import (
	"strconv"

	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

const topologyHeader = "component_name,component_type,tier,subtier,node_id,net_device,dev_id,peer_component_name," +
	"peer_component_type,peer_tier,peer_subtier,peer_node_id,peer_net_device,peer_dev_id,linkspeed_Gbps,prop_delay_ns"

// writeTopology writes one row per link, from the lower end to the upper one.
func (r *Recorder) writeTopology() error {
	t := r.table("topology-report")
	f := r.config.Fabric
	end := func(node, port int32) {
		n := f.Nodes[node]
		t.text(n.Name()).text(n.Type.String()).int(int64(n.Tier)).int(topology.NoSubtier).
			int(int64(node)).text(device(port)).int(int64(port))
	}
	for i := range f.Links {
		l := &f.Links[i]
		end(l.Lower, l.LowerPort)
		end(l.Upper, l.UpperPort)
		if err := t.fixed(l.Rate, 9).fixed(l.Delay, 3).end(); err != nil {
			return err
		}
	}
	return t.close()
}

// MaxReports returns the value of the engine option of this name. It bounds nd-stats
// to about 262,000 rows between two doublings of the interval: a report has two rows
// per link.
func MaxReports(f *topology.Fabric) int64 {
	return max(1, 128<<10/int64(len(f.Links)))
}

func device(port int32) string { return "eth" + strconv.Itoa(int(port)) }

const linkHeader = "time_utc,sim_time_sec,component_name,nd_name,component_type,ifid,uldl,node_id,tier,subtier," +
	"total_packets_tx,total_packets_rx,total_bytes_tx_GB,total_bytes_rx_GB,interval_bytes_tx_MB,interval_bytes_rx_MB," +
	"tx_rate_Gbps,rx_rate_Gbps,tx_link_percent_util,rx_link_percent_util,tx_drops,rx_drops"

// interval writes what each interface carried: two rows per link.
func (r *Recorder) interval(l *engine.Links) error {
	sum := &r.totals
	if sum.Bits == nil {
		sum.Bits, sum.Packets = make([]int64, len(l.Bits)), make([]int64, len(l.Bits))
	}
	for d := range l.Bits {
		sum.Bits[d] += l.Bits[d]
		sum.Packets[d] += l.Packets[d]
	}
	f := r.config.Fabric
	for i := range f.Links {
		k := &f.Links[i]
		up, down := 2*i, 2*i+1
		if err := r.ifc(l, "ul", k.Lower, k.LowerPort, k.Rate, up, down); err != nil {
			return err
		}
		if err := r.ifc(l, "dl", k.Upper, k.UpperPort, k.Rate, down, up); err != nil {
			return err
		}
	}
	return r.tierHops(l)
}

// ifc writes one interface's row; tx and rx are indexes of directed links.
func (r *Recorder) ifc(l *engine.Links, direction string, node, port int32, rate int64, tx, rx int) error {
	n := &r.config.Fabric.Nodes[node]
	sum, span := &r.totals, l.End-l.Start
	bps := func(d int) int64 { return ratio(l.Bits[d], 1_000_000_000_000, span) }
	return r.links.utc(r.config.Start, l.End).fixed(l.End, 12).
		text(n.Name()).text(device(port)).text(n.Type.String()).int(int64(port)).text(direction).
		int(int64(node)).int(int64(n.Tier)).int(topology.NoSubtier).
		int(sum.Packets[tx]).int(sum.Packets[rx]).
		fixed(sum.Bits[tx]/8, 9).fixed(sum.Bits[rx]/8, 9).
		fixed(l.Bits[tx]/8, 6).fixed(l.Bits[rx]/8, 6).
		fixed(bps(tx), 9).fixed(bps(rx), 9).
		fixed(ratio(bps(tx), 100_000_000, rate), 6).fixed(ratio(bps(rx), 100_000_000, rate), 6).
		int(0).int(0).end()
}

const hopHeader = "time_utc,sim_time_sec,spine,fabric,rack,spineInt,fabricInt,rackInt"

// tierHops writes how many packets the switches of each tier have forwarded, since
// the start of the run and in the interval.
func (r *Recorder) tierHops(l *engine.Links) error {
	f := r.config.Fabric
	var now [4]int64
	for i := range f.Links {
		k := &f.Links[i]
		now[f.Nodes[k.Lower].Tier] += l.Packets[2*i]
		now[f.Nodes[k.Upper].Tier] += l.Packets[2*i+1]
	}
	t := r.hops.utc(r.config.Start, l.End).fixed(l.End, 12)
	tiers := []int{topology.TierSSW, topology.TierFSW, topology.TierRSW}
	for _, tier := range tiers {
		r.forward[tier] += now[tier]
		t.int(r.forward[tier])
	}
	for _, tier := range tiers {
		t.int(now[tier])
	}
	return t.end()
}
