package results

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"netsim/simulator/engine"
	"netsim/simulator/timeline"
)

const computationHeader = "rank,node_id,processor,start_time_us,end_time_us"

// The processors of computations.
const (
	accelerator   = "accelerator"
	hostProcessor = "host"
)

func (r *Recorder) computation(c *engine.Computation) error {
	if r.config.MaxTransfers > 0 && r.calculated == r.config.MaxTransfers {
		return nil
	}
	r.calculated++
	processor := accelerator
	if c.Host {
		processor = hostProcessor
	}
	return r.computations.int(int64(c.Rank)).text(strconv.FormatUint(c.Node, 10)).text(processor).
		fixed(c.Start, 6).fixed(c.End, 6).end()
}

// TimelineRecords are the records of which a timeline is made, in the order in which Timeline
// reads them. A run without computations does not have the first.
func TimelineRecords() []string {
	return []string{"computations", "perf", "collective-stats", "nd-stats"}
}

// Shard is a file of a record.
type Shard struct {
	Record string
	io.Reader
}

// TracePerfetto writes the timeline of a run in Perfetto's format, gzip-compressed. It
// returns the number of rows that it read. The shards of a record are consecutive.
func TracePerfetto(w io.Writer, shards ...Shard) (int64, error) {
	t, rows, err := readTimeline(shards)
	if err != nil {
		return rows, err
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return rows, err
	}
	return rows, errors.Join(t.WritePerfetto(z), z.Close())
}

// PlotTimeline writes the timeline of a run in bins, as zstd-compressed JSON. It returns the
// number of rows that it read.
func PlotTimeline(w io.Writer, shards ...Shard) (int64, error) {
	t, rows, err := readTimeline(shards)
	if err != nil {
		return rows, err
	}
	return rows, writeZstd(w, t.Plot())
}

func readTimeline(shards []Shard) (*timeline.Timeline, int64, error) {
	t := timelineReader{Timeline: &timeline.Timeline{}}
	for _, s := range shards {
		var err error
		switch s.Record {
		case "computations":
			err = t.computations(s)
		case "perf":
			err = t.transfers(s)
		case "collective-stats":
			err = t.collectives(s)
		case "nd-stats":
			err = t.links(s)
		default:
			err = fmt.Errorf("a timeline has nothing of %s", s.Record)
		}
		if err != nil {
			return nil, t.read, fmt.Errorf("%s: %w", s.Record, err)
		}
	}
	t.closeInterval()
	return t.Timeline, t.read, nil
}

// timelineReader reads records into a timeline.
type timelineReader struct {
	rows
	*timeline.Timeline

	at    int64 // ps, of the current interval of nd-stats
	tiers [4][2]histogram
}

func (t *timelineReader) computations(shard io.Reader) error {
	c, err := t.columns(shard, "rank", "processor", "start_time_us", "end_time_us")
	if err != nil {
		return err
	}
	computing := t.Name([]byte("computation"))
	for t.next() {
		s := timeline.Span{
			Kind: timeline.Computing, Owner: t.rank(c[0]), Name: computing, To: -1, Collective: -1,
			Start: t.fixed(c[2], 6), End: t.fixed(c[3], 6),
		}
		if string(t.fields[c[1]]) == hostProcessor {
			s.Kind = timeline.HostComputing
		}
		t.Add(s)
	}
	return t.end()
}

func (t *timelineReader) transfers(shard io.Reader) error {
	c, err := t.columns(shard, "sim_time_sec", "metric_path", "metric_aggregation_id", "start_time_sec", "flow_comm_size", "sending_app_name", "receiving_app_name")
	if err != nil {
		return err
	}
	for t.next() {
		s := timeline.Span{
			Kind: timeline.Sending, Owner: t.rank(c[5]), To: t.rank(c[6]), Collective: -1, Bytes: t.fixed(c[4], 0),
			Start: t.fixed(c[3], 12), End: t.fixed(c[0], 12),
		}
		if id := t.fields[c[2]]; string(id) != "-1" {
			s.Collective = t.fixed(c[2], 0)
		}
		_, operation, _ := bytes.Cut(t.fields[c[1]], []byte("."))
		if end := bytes.LastIndex(operation, []byte(".GroupSize")); end >= 0 {
			operation = operation[:end]
		}
		s.Name = t.Name(operation)
		t.Add(s)
	}
	return t.end()
}

// rank reads a rank, with or without the prefix of an application's name.
func (t *timelineReader) rank(column int) int32 {
	t.fields[column] = bytes.TrimPrefix(t.fields[column], []byte("rank-"))
	v := t.fixed(column, 0)
	if v > maxRank {
		t.err = errors.Join(t.err, fmt.Errorf("row %d: %d is not a rank", t.read, v))
		return 0
	}
	return int32(v)
}

// maxRank is more than any fabric has servers.
const maxRank = 1 << 24

// collectives reads the names of groups, which may be quoted.
func (t *timelineReader) collectives(shard io.Reader) error {
	r := csv.NewReader(shard)
	head, err := r.Read()
	if err != nil || len(head) != 8 {
		return errors.Join(fmt.Errorf("a shard with %d columns", len(head)), err)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		t.read++
		var v [4]int64
		for i, column := range []struct{ at, decimals int }{{0, 0}, {2, 0}, {5, 6}, {6, 6}} {
			if v[i], err = parseFixed([]byte(row[column.at]), column.decimals); err != nil {
				return fmt.Errorf("row %d: %w", t.read, err)
			}
		}
		t.Add(timeline.Span{
			Kind: timeline.Running, Owner: t.Group([]byte(row[3])), Name: t.Name([]byte(row[1])), To: -1,
			Collective: v[0], Bytes: v[1], Start: v[2], End: v[3],
		})
	}
}

// links adds the mean and the highest utilisation of each tier and direction.
func (t *timelineReader) links(shard io.Reader) error {
	c, err := t.columns(shard, "sim_time_sec", "uldl", "tier", "tx_link_percent_util")
	if err != nil {
		return err
	}
	for t.next() {
		if at := t.fixed(c[0], 12); at != t.at {
			t.closeInterval()
			t.at = at
		}
		down := 0
		if string(t.fields[c[1]]) == "dl" {
			down = 1
		}
		t.tiers[t.fixed(c[2], 0)&3][down].add(0, t.fixed(c[3], 6))
	}
	return t.end()
}

func (t *timelineReader) closeInterval() {
	for i, name := range Tiers() {
		for down := range t.tiers[i] {
			h := &t.tiers[i][down]
			if h.count > 0 {
				label := name + " " + direction(down == 1)
				t.Count(label+" mean", t.at, h.mean())
				t.Count(label+" max", t.at, h.max)
			}
			*h = histogram{bins: h.bins}
		}
	}
}
