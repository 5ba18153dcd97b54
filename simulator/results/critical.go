package results

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"netsim/simulator/engine"
)

const criticalHeader = "step,kind,rank,to_rank,collective_id,comm_type,node_id,bytes,activities,start_time_us,end_time_us," +
	"computation_us,sending_us,contention_us,latency_us,limited_by"

// The kinds of steps of a critical path.
const (
	computation = "computation"
	transfer    = "transfer"
)

// criticalStep is a row of the record critical-path. Times are in ps.
type criticalStep struct {
	kind       string
	rank, to   int64  // to is -1 for a computation
	collective int64  // -1 for none
	operation  string // of a transfer
	node       uint64 // of a computation
	bytes      int64
	activities int64
	start      int64
	spent      criticalTime
	limit      string // "" for none
}

// criticalTime is how the time of the path, or of a part of it, divides; ps.
type criticalTime struct{ compute, sending, contention, latency int64 }

func (t *criticalTime) parts() [4]*int64 {
	return [...]*int64{&t.compute, &t.sending, &t.contention, &t.latency}
}

func (t *criticalTime) add(other criticalTime) {
	for i, part := range other.parts() {
		*t.parts()[i] += *part
	}
}

func (t *criticalTime) sum() int64 { return t.compute + t.sending + t.contention + t.latency }

// criticalSteps returns the rows of the path of a result.
func (r *Recorder) criticalSteps(result *engine.Result) []criticalStep {
	steps := make([]criticalStep, len(result.Path))
	for i := range result.Path {
		p := &result.Path[i]
		s := criticalStep{
			kind: transfer, rank: int64(p.Rank), to: int64(p.To), collective: p.Collective, operation: p.Operation, bytes: p.Bytes,
			activities: p.Activities, start: p.Start, spent: criticalTime{p.Compute, p.Sending, p.Contention, p.Latency},
		}
		if p.To < 0 {
			s.kind, s.node = computation, p.Node
		}
		if p.Limit != nil {
			s.limit = r.limitName(p.Limit)
		}
		steps[i] = s
	}
	return steps
}

// writeCritical writes the steps of the critical path, and keeps their summary.
func (r *Recorder) writeCritical(result *engine.Result) error {
	if len(result.Path) == 0 {
		return nil
	}
	t, fold := r.table("critical-path"), criticalFold{}
	for i, s := range r.criticalSteps(result) {
		fold.add(&s)
		t.int(int64(i)).text(s.kind).int(s.rank).int(s.to).int(s.collective).quoted(s.operation).
			text(strconv.FormatUint(s.node, 10)).int(s.bytes).int(s.activities).fixed(s.start, 6).fixed(s.start+s.spent.sum(), 6)
		for _, part := range s.spent.parts() {
			t.fixed(*part, 6)
		}
		if err := t.quoted(s.limit).end(); err != nil {
			return err
		}
	}
	r.critical = fold.summary()
	return t.close()
}

// SummarizeCritical writes the summary of the shards of critical-path as zstd-compressed
// JSON, and returns the number of rows.
func SummarizeCritical(w io.Writer, shards ...io.Reader) (int64, error) {
	fold := criticalFold{}
	for _, shard := range shards {
		if err := fold.read(shard); err != nil {
			return 0, err
		}
	}
	return fold.rows, writeZstd(w, fold.summary())
}

// read adds the rows of a shard.
func (f *criticalFold) read(shard io.Reader) error {
	rows := csv.NewReader(bufio.NewReader(shard))
	rows.ReuseRecord = true
	head, err := rows.Read()
	if err != nil || strings.Join(head, ",") != criticalHeader {
		return errors.Join(fmt.Errorf("a shard with the columns %.200q", head), err)
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s, err := criticalRow(row)
		if err != nil {
			return fmt.Errorf("row %d: %w", f.rows+1, err)
		}
		f.add(&s)
	}
}

// criticalRow reads a row. Its texts are copies.
func criticalRow(row []string) (s criticalStep, err error) {
	s.kind, s.operation, s.limit = strings.Clone(row[1]), strings.Clone(row[5]), strings.Clone(row[15])
	for column, v := range map[int]*int64{2: &s.rank, 3: &s.to, 4: &s.collective, 7: &s.bytes, 8: &s.activities} {
		n, e := strconv.ParseInt(row[column], 10, 64)
		*v, err = n, errors.Join(err, e)
	}
	node, e := strconv.ParseUint(row[6], 10, 64)
	s.node, err = node, errors.Join(err, e)
	spent := s.spent.parts()
	for column, v := range map[int]*int64{9: &s.start, 11: spent[0], 12: spent[1], 13: spent[2], 14: spent[3]} {
		*v, e = parseFixed([]byte(row[column]), 6)
		err = errors.Join(err, e)
	}
	return s, err
}

// criticalFold collects what the summary of a path needs.
type criticalFold struct {
	rows, activities int64
	spent            criticalTime
	longest          []criticalStep
	ranks            map[int64]int64         // ps that the rank computed on the path
	links            map[string]criticalTime // of transfers, by what limited them
	collectives      map[collectiveKey]criticalTime
}

type collectiveKey struct {
	id        int64
	operation string
}

// maxCritical is the number of steps, ranks, links and collectives that a summary names.
const maxCritical = 10

func (f *criticalFold) add(s *criticalStep) {
	if f.ranks == nil {
		f.ranks, f.links, f.collectives = map[int64]int64{}, map[string]criticalTime{}, map[collectiveKey]criticalTime{}
	}
	f.rows++
	f.activities += s.activities
	f.spent.add(s.spent)
	at, _ := slices.BinarySearchFunc(f.longest, s, func(a criticalStep, b *criticalStep) int {
		return cmp.Or(cmp.Compare(b.spent.sum(), a.spent.sum()), -1) // after equal ones
	})
	if at < maxCritical {
		f.longest = slices.Insert(f.longest, at, *s)
		f.longest = f.longest[:min(len(f.longest), maxCritical)]
	}
	if s.spent.compute > 0 {
		f.ranks[s.rank] += s.spent.compute
	}
	if s.kind != transfer {
		return
	}
	sum := f.links[s.limit]
	sum.add(s.spent)
	f.links[s.limit] = sum
	key := collectiveKey{s.collective, s.operation}
	sum = f.collectives[key]
	sum.add(s.spent)
	f.collectives[key] = sum
}
