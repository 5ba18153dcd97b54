package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/tables"
)

// ahead is how many batches of a partition are read ahead of the writing.
const ahead = 2

// partition exports the rest of a partition.
func (x *Export) partition(ctx context.Context, p Partition) error {
	w := &writer{x: x, Partition: p, table: tables.For(p.Family)}
	w.filter = newFilter(x.Filters, x.owned, w.table)
	defer w.discard()
	from := p.Next
	if x.Filters.Account != "" {
		from = p.From // the filter learns streams from earlier facts
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan facts.Batch, ahead)
	go func() {
		defer close(batches)
		for from < p.To {
			b, err := x.next(ctx, p.Family, p.Partition, from)
			if err != nil {
				cancel(err)
				return
			}
			select {
			case batches <- b:
			case <-ctx.Done():
				return
			}
			from = b.To
		}
	}()
	for b := range batches {
		if err := w.batch(ctx, b); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return w.finish(ctx, p.To)
}

// next reads a batch. It fails when the read model judges nothing for too long.
func (x *Export) next(ctx context.Context, family events.Family, partition int32, from int64) (facts.Batch, error) {
	waiting, cancel := context.WithTimeout(ctx, x.Stall)
	defer cancel()
	b, err := x.Facts.Next(waiting, family, partition, from)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return b, fmt.Errorf("the read model has not judged %s/%d from offset %d on within %s: is the service running?", family, partition, from, x.Stall)
	}
	return b, err
}

// writer writes the files of a partition, one after another.
type writer struct {
	Partition
	x      *Export
	table  *tables.Table
	filter *filter
	row    tables.Row

	file    File        // that is being written
	records int64       // their bytes
	last    *facts.Fact // that was read
	draft   Draft
	tally   *tally
	buffer  *bufio.Writer
	content content
}

func (w *writer) batch(ctx context.Context, b facts.Batch) error {
	written := int64(0)
	for i := range b.Facts {
		f := &b.Facts[i]
		if f.Offset >= w.To {
			break
		}
		w.last = f
		if err := w.table.Row(&w.row, f); err != nil {
			return err
		}
		if !w.filter.passes(f, &w.row) || f.Offset < w.Next {
			continue
		}
		if err := w.add(ctx, f); err != nil {
			return err
		}
		written++
	}
	w.x.facts.Add(written)
	w.x.read.Add(max(0, min(b.To, w.To)-max(b.From, w.Next)))
	return nil
}

func (w *writer) add(ctx context.Context, f *facts.Fact) error {
	if w.draft == nil {
		if err := w.begin(ctx); err != nil {
			return err
		}
		w.file.FirstOffset = f.Offset
	}
	if err := w.content.add(f, &w.row); err != nil {
		return fmt.Errorf("write %s/%d offset %d: %w", f.Family, f.Partition, f.Offset, err)
	}
	w.file.LastOffset = f.Offset
	w.file.Rows++
	if w.records += int64(f.Size()); w.records < w.x.FileBytes {
		return nil
	}
	return w.finish(ctx, f.Offset+1)
}

// begin begins a file.
func (w *writer) begin(ctx context.Context) (err error) {
	if w.draft, err = w.x.Target.Create(ctx); err != nil {
		return err
	}
	w.records = 0
	w.file = File{Table: w.table.Name, Partition: w.Partition.Partition, From: w.Next}
	if w.x.Format != NDJSON {
		w.file.Columns = len(w.table.Columns)
	}
	w.tally, w.buffer = newTally(w.draft)
	w.content = newContent(w.x.Format, w.buffer, w.table, w.Topic)
	return w.x.step("file begun")
}

// finish ends the file, if there is one, and records that everything before an offset is
// in files.
func (w *writer) finish(ctx context.Context, to int64) error {
	if w.draft == nil {
		w.Next = to
		return w.x.record(ctx, w.move)
	}
	if err := w.content.close(); err != nil {
		return err
	}
	if err := w.buffer.Flush(); err != nil {
		return fmt.Errorf("write a file: %w", err)
	}
	w.file.To, w.file.Bytes, w.file.SHA256 = to, w.tally.bytes, w.tally.sum()
	w.file.Name = fmt.Sprintf("%s-%04d-%012d-%012d.%s", w.table.Name, w.file.Partition, w.file.From, to, w.x.Format)
	if err := w.x.step("file written"); err != nil {
		return err
	}
	if err := w.draft.Finish(ctx, w.file.Name); err != nil {
		return err
	}
	w.discard()
	if err := w.x.step("file named"); err != nil {
		return err
	}
	w.Next = to
	err := w.x.record(ctx, func(m *Manifest) {
		m.add(w.file)
		w.move(m)
	})
	if err != nil {
		return err
	}
	return w.x.step("file listed")
}

// move records in the manifest how far the partition is exported.
func (w *writer) move(m *Manifest) {
	for i := range m.Partitions {
		if p := &m.Partitions[i]; p.Family == w.Family && p.Partition == w.Partition.Partition {
			p.Next = w.Next
			if w.last != nil {
				p.Anchor = events.Anchor{TopicID: w.TopicID}.After(w.last.Offset+1, events.SumOf(w.last.Record)).String()
			}
		}
	}
}

func (w *writer) discard() {
	if w.draft != nil {
		w.draft.Discard()
		w.draft = nil
	}
}

// Progress is how far an export is.
type Progress struct {
	Read, Total int64 // records of this run
	Facts       int64 // written by this run
	Files       int   // finished, also by earlier runs
	Spent       time.Duration
}

// Left estimates the time that the rest takes, 0 before anything is read.
func (p Progress) Left() time.Duration {
	if p.Read == 0 {
		return 0
	}
	return time.Duration(float64(p.Spent) * float64(p.Total-p.Read) / float64(p.Read))
}

const reportEvery = 2 * time.Second

// reporting reports the progress until stop, and then once more.
func (x *Export) reporting() (stop func()) {
	if x.Report == nil {
		return func() {}
	}
	total := int64(0)
	for _, p := range x.manifest.Partitions {
		total += p.To - p.Next
	}
	began := time.Now()
	report := func() {
		x.mu.Lock()
		files := len(x.manifest.Files)
		x.mu.Unlock()
		x.Report(Progress{Read: x.read.Load(), Total: total, Facts: x.facts.Load(), Files: files, Spent: time.Since(began)})
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		every := time.NewTicker(reportEvery)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				report()
			case <-end:
				report()
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}
