package results

import (
	"slices"

	"netsim/simulator/engine"
)

const collectiveHeader = "collective_id,comm_type,comm_size,pg_name,pg_size,start_time_us,end_time_us,is_valid"

// class collects the finished collectives of one kind for the percentiles, without those of
// groups of one rank.
type class struct {
	sample engine.Collective
	runs   []int64 // ps
	ratios []int64 // run over ideal time, in millionths
}

func (r *Recorder) collective(c *engine.Collective) error {
	if c.Finished && c.GroupSize > 1 {
		k := r.class(c)
		run := c.End - c.Start
		k.runs = append(k.runs, run)
		k.ratios = append(k.ratios, ratio(run, 1_000_000, c.Ideal))
	}
	name := c.GroupName
	if name == "" {
		name = "group-" + string(appendFixed(nil, int64(c.Group), 0))
	}
	return r.collectives.int(c.ID).text(c.OperationType).int(c.DataSize).quoted(name).int(int64(c.GroupSize)).
		fixed(c.Start, 6).fixed(c.End, 6).bool(c.Finished).end()
}

// class returns the collective's class. Most simulations have only a few.
func (r *Recorder) class(c *engine.Collective) *class {
	for i := range r.classes {
		k := &r.classes[i].sample
		if k.OperationType == c.OperationType && k.Algorithm == c.Algorithm && k.DataSize == c.DataSize && k.GroupSize == c.GroupSize {
			return &r.classes[i]
		}
	}
	r.classes = append(r.classes, class{sample: *c})
	return &r.classes[len(r.classes)-1]
}

const percentileHeader = "comm_type,expansion_algo,comm_size,pg_size,count,mean_run_time_us,p50_run_time_us,p99_run_time_us," +
	"p99_9_run_time_us,p100_run_time_us,mean_ideal_ratio,p50_ideal_ratio,p99_ideal_ratio,p99_9_ideal_ratio,p100_ideal_ratio," +
	"mean_algbw_GBps,mean_busbw_GBps"

// writePercentiles writes one row for each class, in the order in which their first
// collectives finished.
func (r *Recorder) writePercentiles() error {
	t := r.table("collective-percentiles")
	for i := range r.classes {
		k := &r.classes[i]
		c := &k.sample
		t.text(c.OperationType).text(c.Algorithm).int(c.DataSize).int(int64(c.GroupSize)).int(int64(len(k.runs)))
		bandwidth := k.bandwidth()
		for _, v := range [][]int64{k.runs, k.ratios} {
			slices.Sort(v)
			t.fixed(mean(v), 6)
			for _, p := range []int{500, 990, 999, 1000} {
				t.fixed(percentile(v, p), 6)
			}
		}
		t.fixed(bandwidth, 9).fixed(ratio(bandwidth, c.BusNum, c.BusDen), 9)
		if err := t.end(); err != nil {
			return err
		}
	}
	return t.close()
}

// bandwidth returns the mean algorithm bandwidth, in bytes/s.
func (k *class) bandwidth() int64 {
	var sum int64
	for _, run := range k.runs {
		sum += ratio(k.sample.AlgorithmBytes, 1_000_000_000_000, run) / int64(len(k.runs))
	}
	return sum
}

// percentile returns the nearest-rank percentile of sorted values: 990 thousandths are p99.
func percentile(sorted []int64, thousandths int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*thousandths+999)/1000-1)]
}

func mean(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	var whole, rest int64
	n := int64(len(values))
	for _, v := range values {
		whole += v / n
		rest += v % n
	}
	return whole + rest/n
}
