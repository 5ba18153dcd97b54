package results_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/results"
)

// TestColumns: every record has the columns of completions.md 5.6 in their order,
// and they are the header of its file.
func TestColumns(t *testing.T) {
	t.Parallel()
	documented := map[string]string{
		"nd-stats": "time_utc, sim_time_sec, component_name, nd_name, component_type, ifid, uldl, node_id, tier, subtier, total_packets_tx, total_packets_rx, " +
			"total_bytes_tx_GB, total_bytes_rx_GB, interval_bytes_tx_MB, interval_bytes_rx_MB, tx_rate_Gbps, rx_rate_Gbps, tx_link_percent_util, rx_link_percent_util, tx_drops, rx_drops",
		"perf": "time_utc, metric_name, sim_time_sec, perf_metric_usec, metric_path, metric_aggregation_id, start_time_sec, is_added_synchronization_flow, comm_tag, " +
			"group_size, flow_comm_size, sending_app_name, receiving_app_name",
		"rank-completion": "metric_path, rank, completion_time_us, payload_bytes_sent, payload_bytes_received, sends_completed, receives_completed, sends_acked, " +
			"computations_completed, computation_time_us, finished",
		"progress-cdf":     "sim_time_sec, send_bytes, sends_completed, receives_completed, sends_acked, computations_completed",
		"collective-stats": "collective_id, comm_type, comm_size, pg_name, pg_size, start_time_us, end_time_us, is_valid",
		"collective-percentiles": "comm_type, expansion_algo, comm_size, pg_size, count, mean_run_time_us, p50_run_time_us, p99_run_time_us, p99_9_run_time_us, p100_run_time_us, " +
			"mean_ideal_ratio, p50_ideal_ratio, p99_ideal_ratio, p99_9_ideal_ratio, p100_ideal_ratio, mean_algbw_GBps, mean_busbw_GBps",
		"topology-report": "component_name, component_type, tier, subtier, node_id, net_device, dev_id, peer_component_name, peer_component_type, peer_tier, peer_subtier, " +
			"peer_node_id, peer_net_device, peer_dev_id, linkspeed_Gbps, prop_delay_ns",
		"tier-hop":     "time_utc, sim_time_sec, spine, fabric, rack, spineInt, fabricInt, rackInt",
		"computations": "rank, node_id, processor, start_time_us, end_time_us",
		"critical-path": "step, kind, rank, to_rank, collective_id, comm_type, node_id, bytes, activities, start_time_us, end_time_us, " +
			"computation_us, sending_us, contention_us, latency_us, limited_by",
		"chakra-mapping": "ChakraId, Hostname, NicNodeID, ServerNodeID, ServerID, Core, IPAddress",
	}
	in := kinds(t)["hashed"]
	in.Options.CriticalPath = true
	out, _ := recordInput(t, results.Config{Simulation: "s", Hosts: make([]int32, 64)}, in)
	traces, _ := recordInput(t, results.Config{Simulation: "s"}, kinds(t)["replay"])
	out.content["s-computations-0.csv"] = traces.content["s-computations-0.csv"]
	for record, columns := range documented {
		want := strings.Split(columns, ", ")
		if diff := cmp.Diff(want, results.Columns(record)); diff != "" {
			t.Errorf("columns of %s (-documented +got):\n%s", record, diff)
		}
		file := out.content["s-"+record+"-0.csv"]
		if file == nil {
			t.Errorf("record %s has no file", record)
			continue
		}
		if header, _, _ := strings.Cut(file.String(), "\n"); header != strings.Join(want, ",") {
			t.Errorf("the file of %s begins with %s, want %s", record, header, strings.Join(want, ","))
		}
	}
}

// TestPlacement: chakra-mapping says on which server each rank runs and in which
// scale-up group it is.
func TestPlacement(t *testing.T) {
	t.Parallel()
	up := scaledUp(t)
	f := up.Fabric
	out := &files{}
	hosts := []int32{7, 6, 5, 4, 3, 2, 1, 0}
	if _, err := results.New(results.Config{
		Simulation: "s", Start: time.Unix(0, 0), Fabric: f, Create: out.create, Hosts: hosts, Seats: up.ScaleUp,
	}); err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, out, "s-chakra-mapping-0.csv")
	for rank, row := range rows {
		host := &f.Hosts[hosts[rank]]
		group, subgroup := "", ""
		if rank >= 4 {
			group, subgroup = "7", map[int]string{0: "0", 1: "1"}[rank%2]
		}
		want := map[string]string{
			"ChakraId": strconv.Itoa(rank), "Hostname": f.Nodes[host.Server].Name(), "NicNodeID": strconv.Itoa(int(host.NICs[0])),
			"ServerNodeID": strconv.Itoa(int(host.Server)), "ServerID": strconv.Itoa(int(hosts[rank])), "Core": "0", "IPAddress": "",
			"ScaleUpGroupId": group, "ScaleUpSubgroupId": subgroup,
		}
		if diff := cmp.Diff(want, row); diff != "" {
			t.Errorf("rank %d (-want +got):\n%s", rank, diff)
		}
	}
	if len(rows) != 8 {
		t.Errorf("%d rows, want 8", len(rows))
	}
}
