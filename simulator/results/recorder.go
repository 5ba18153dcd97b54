// Package results writes the result files of a run during the run, with bounded memory:
// the records of completions.md 5.6 as CSV, and the summary.
//
// All arithmetic is on integers, and wall-clock times are relative to a given start, so the
// same run writes the same bytes anywhere. GB and MB are decimal. What a flow model does
// not have (buffers, ECN, PFC, transport state, packet captures) is not written.
package results

import (
	"io"
	"math/bits"
	"strings"
	"time"

	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// Config of a recorder.
type Config struct {
	Simulation string    // its name, the prefix of file names
	Start      time.Time // the wall-clock instant of simulated time 0
	Fabric     *topology.Fabric
	// Create opens a result file for writing; closing the file publishes it.
	Create func(name string) (io.WriteCloser, error)
	// Reopen opens a file that Resume continues; writes follow its content.
	Reopen func(name string) (io.WriteCloser, error)
	// ShardSize is the size in bytes after which a record continues in a new file; 0 means
	// 256 MiB.
	ShardSize int
	// MaxTransfers bounds the rows of the per-transfer record, about 200 bytes
	// each, and those of the record of computations; 0 means no bound. The summary says
	// how many transfers are not listed.
	MaxTransfers int64
	// ScaleUp are the groups whose ports have a record; nil means no record.
	ScaleUp *engine.ScaleUp
	// Hosts are the hosts of a traceset's ranks; nil for traffic. Seats are their
	// positions in scale-up groups; nil without groups.
	Hosts []int32
	Seats *engine.ScaleUp
}

// Recorder writes what the engine reports to result files. A recorder serves one run.
type Recorder struct {
	config Config

	perf, ranks, collectives, cdf, links, hops, computations *table

	classes    []class
	listed     int64        // transfers in the per-transfer record
	calculated int64        // computations in their record
	totals     engine.Links // since the start of the run
	split      split
	forward    [4]int64 // packets that the switches have forwarded, by tier
	pathOf     engine.Collective
	pathText   string
	names      []string // rank-<n>, filled on first use
	ports      []port   // scale-up ports, by rank
	critical   *criticalPath
	headline   Headline    // of the summary, once it is written
	computing  []computing // ranks that have computed, in the order in which they finished
}

// New returns a recorder. It writes the topology report and the placement of ranks.
func New(c Config) (*Recorder, error) {
	r := start(c)
	if err := r.writeTopology(); err != nil {
		return r, err
	}
	return r, r.writePlacement()
}

func start(c Config) *Recorder {
	if c.ShardSize == 0 {
		c.ShardSize = shardSize
	}
	r := &Recorder{config: c}
	r.perf = r.table("perf")
	r.ranks = r.table("rank-completion")
	r.collectives = r.table("collective-stats")
	r.cdf = r.table("progress-cdf")
	r.links = r.table("nd-stats")
	r.hops = r.table("tier-hop")
	r.computations = r.table("computations")
	return r
}

func (r *Recorder) table(record string) *table {
	return &table{
		create: r.config.Create, header: header(record), limit: r.config.ShardSize,
		prefix: filePrefix(r.config.Simulation) + "-" + record,
	}
}

// header returns the first line of a record's files, "" for an unknown record.
func header(record string) string {
	switch record {
	case "perf":
		return perfHeader
	case "rank-completion":
		return rankHeader
	case "collective-stats":
		return collectiveHeader
	case "collective-percentiles":
		return percentileHeader
	case "progress-cdf":
		return cdfHeader
	case "nd-stats":
		return linkHeader
	case "tier-hop":
		return hopHeader
	case "topology-report":
		return topologyHeader
	case "scale-up-stats":
		return scaleUpHeader
	case "chakra-mapping":
		return placementHeader
	case "computations":
		return computationHeader
	case "critical-path":
		return criticalHeader
	}
	return ""
}

// Columns returns the columns of a record, nil for an unknown record. Of chakra-mapping it
// returns those that every file has.
func Columns(record string) []string {
	if h := header(record); h != "" {
		return strings.Split(h, ",")
	}
	return nil
}

// Observer returns the functions to which the engine reports.
func (r *Recorder) Observer() engine.Observer {
	return engine.Observer{
		Transfer: r.transfer, Collective: r.collective, Rank: r.rank,
		Beacon: r.beacon, Links: r.interval, Computation: r.computation,
	}
}

// Close writes the records that need the end of the run and closes every file. It is called
// once: with the run's result, or with nil if the run failed. With nil it writes no summary.
func (r *Recorder) Close(result *engine.Result) error {
	err := r.writePercentiles()
	if e := r.writePorts(); err == nil {
		err = e
	}
	for _, t := range r.tables() {
		if e := t.close(); err == nil {
			err = e
		}
	}
	if result != nil && err == nil {
		err = r.writeCritical(result)
	}
	if result != nil && err == nil {
		err = r.writeSummary(result)
	}
	return err
}

const perfHeader = "time_utc,metric_name,sim_time_sec,perf_metric_usec,metric_path,metric_aggregation_id," +
	"start_time_sec,is_added_synchronization_flow,comm_tag,group_size,flow_comm_size,sending_app_name,receiving_app_name"

func (r *Recorder) transfer(t *engine.Transfer) error {
	r.countPorts(t)
	if r.config.MaxTransfers > 0 && r.listed == r.config.MaxTransfers {
		if r.config.ScaleUp == nil {
			return engine.ErrEnough
		}
		return nil
	}
	r.listed++
	c := t.Collective
	return r.perf.utc(r.config.Start, t.Acked).text("TransferFCT").fixed(t.Acked, 12).fixed(t.Acked-t.Start, 6).
		text(r.path(c)).int(c.ID).fixed(t.Start, 12).int(0).int(t.Step).int(int64(c.GroupSize)).int(t.Bytes).
		text(r.name(t.From)).text(r.name(t.To)).end()
}

// path returns the metric path of a collective's transfers.
func (r *Recorder) path(c *engine.Collective) string {
	if k := &r.pathOf; k.OperationType != c.OperationType || k.GroupSize != c.GroupSize || k.DataSize != c.DataSize {
		r.pathOf = *c
		b := append([]byte("TransferFCT."), c.OperationType...)
		b = appendFixed(append(b, ".GroupSize"...), int64(c.GroupSize), 0)
		b = appendFixed(append(b, ".CommSize"...), c.DataSize, 0)
		r.pathText = string(append(b, "Bytes"...))
	}
	return r.pathText
}

func (r *Recorder) name(rank int32) string {
	for int(rank) >= len(r.names) {
		r.names = append(r.names, string(appendFixed([]byte("rank-"), int64(len(r.names)), 0)))
	}
	return r.names[rank]
}

const rankHeader = "metric_path,rank,completion_time_us,payload_bytes_sent,payload_bytes_received,sends_completed," +
	"receives_completed,sends_acked,computations_completed,computation_time_us,finished"

func (r *Recorder) rank(k *engine.Rank) error {
	r.split.add(k)
	r.computed(k)
	return r.ranks.text("RankCompletion").int(int64(k.Rank)).fixed(k.Time, 6).int(k.BytesSent).int(k.BytesReceived).
		int(k.Sends).int(k.Receives).int(k.Sends).int(k.Computations).fixed(k.ComputeTime, 6).bool(k.Finished).end()
}

const cdfHeader = "sim_time_sec,send_bytes,sends_completed,receives_completed,sends_acked,computations_completed"

// beacon writes the progress of the run. In the model, a transfer counts as sent, received
// and acknowledged at the same instant. A run without computations has completed all of them.
func (r *Recorder) beacon(p *engine.Progress) error {
	sends := fraction(p.Sends, p.SendsTotal)
	computations := int64(1_000_000)
	if p.ComputationsTotal > 0 {
		computations = fraction(p.Computations, p.ComputationsTotal)
	}
	return r.cdf.fixed(p.Time, 12).fixed(fraction(p.Bytes, p.BytesTotal), 6).
		fixed(sends, 6).fixed(sends, 6).fixed(sends, 6).fixed(computations, 6).end()
}

// fraction returns part/whole in millionths.
func fraction(part, whole int64) int64 { return ratio(part, 1_000_000, whole) }

// ratio returns floor(a·scale/b), 0 if b is 0 or the result exceeds 64 bits.
func ratio(a, scale, b int64) int64 {
	if b == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(a), uint64(scale))
	if hi >= uint64(b) {
		return 0
	}
	q, _ := bits.Div64(hi, lo, uint64(b))
	return int64(q)
}
