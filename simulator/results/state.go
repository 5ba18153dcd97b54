package results

import (
	"fmt"
	"io"

	"netsim/simulator/engine"
	"netsim/simulator/snapshot"
)

// section names the content that this package writes to an engine snapshot.
const section = "results " + engine.Version

// Save first flushes all rows to the files, then writes the state from which Resume
// continues.
func (r *Recorder) Save(w io.Writer) error {
	for _, t := range r.tables() {
		if t.file != nil && t.err == nil {
			t.err = t.out.Flush()
		}
		if t.err != nil {
			return t.err
		}
	}
	return snapshot.Write(w, section, r.visit)
}

// Resume continues the files of a saved recorder. Config.Reopen opens the files that were
// open then, with the content that they had then.
func Resume(c Config, state io.Reader) (*Recorder, error) {
	r := start(c)
	if err := snapshot.Read(state, section, r.visit); err != nil {
		return nil, err
	}
	for _, t := range r.tables() {
		if t.resumed {
			t.reopen(c.Reopen)
		}
		if t.err != nil {
			return nil, t.err
		}
	}
	return r, nil
}

func (r *Recorder) tables() []*table {
	return []*table{r.perf, r.ranks, r.collectives, r.cdf, r.links, r.hops, r.computations}
}

// visit encodes or decodes the state that a recorder has collected since its start,
// without caches.
func (r *Recorder) visit(c *snapshot.Codec) {
	for _, t := range r.tables() {
		open := t.file != nil
		c.Bool(&open)
		t.resumed = open && c.Reading()
		snapshot.Index(c, &t.shard, 0, 1<<30)
		snapshot.Int(c, &t.written)
	}
	snapshot.Slice(c, &r.classes, func(k *class) { k.visit(c) })
	snapshot.Int(c, &r.listed)
	snapshot.Int(c, &r.calculated)
	snapshot.Int(c, &r.totals.Start)
	snapshot.Int(c, &r.totals.End)
	links := 2 * len(r.config.Fabric.Links)
	whole(c, &r.totals.Bits, links, func(v *int64) { snapshot.Int(c, v) })
	whole(c, &r.totals.Packets, links, func(v *int64) { snapshot.Int(c, v) })
	r.split.visit(c)
	for i := range r.forward {
		snapshot.Int(c, &r.forward[i])
	}
	snapshot.Slice(c, &r.computing, func(k *computing) { k.visit(c) })
	seats := 0
	if r.config.ScaleUp != nil {
		seats = len(r.config.ScaleUp.Seats)
	}
	whole(c, &r.ports, seats, func(p *port) {
		for _, v := range []*int64{&p.sends, &p.receives, &p.out, &p.in} {
			snapshot.Int(c, v)
		}
	})
}

// whole encodes or decodes a list that is either empty or of its full length.
func whole[T any](c *snapshot.Codec, list *[]T, length int, each func(*T)) {
	snapshot.Slice(c, list, each)
	if n := len(*list); n != 0 && n != length {
		c.Refuse("a list has %d elements, want %d", n, length)
	}
	if len(*list) == 0 {
		*list = nil
	}
}

func (k *class) visit(c *snapshot.Codec) {
	s := &k.sample
	c.Text(&s.GroupName)
	c.Text(&s.OperationType)
	c.Text(&s.Algorithm)
	snapshot.Int(c, &s.Group)
	snapshot.Int(c, &s.GroupSize)
	for _, v := range []*int64{
		&s.ID, &s.DataSize, &s.Start, &s.End, &s.Ideal, &s.AlgorithmBytes, &s.BusNum, &s.BusDen,
	} {
		snapshot.Int(c, v)
	}
	c.Bool(&s.Finished)
	for _, list := range []*[]int64{&k.runs, &k.ratios} {
		snapshot.Slice(c, list, func(v *int64) { snapshot.Int(c, v) })
	}
}

// reopen continues the current shard.
func (t *table) reopen(open func(name string) (io.WriteCloser, error)) {
	if t.shard == 0 {
		t.err = fmt.Errorf("%w: %s has no file to continue", snapshot.ErrRefused, t.prefix)
		return
	}
	if t.file, t.err = open(t.name(t.shard - 1)); t.err == nil {
		t.buffer()
	}
}
