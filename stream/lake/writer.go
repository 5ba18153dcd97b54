package lake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
)

// writer is the work on the lake from the committed positions on, until something
// fails.
type writer struct {
	*Lake
	*catalog
	epoch   int64
	buffers map[events.Family]*buffer
	begun   chan struct{} // receives a value when a buffer gets its first records
	full    chan struct{} // receives a value when a buffer is at its limit
}

// write writes the lake until ctx ends or something fails.
func (l *Lake) write(ctx context.Context, epoch int64) error {
	c, err := l.open(ctx)
	if err != nil {
		return err
	}
	w := &writer{Lake: l, catalog: c, epoch: epoch, buffers: map[events.Family]*buffer{}, begun: make(chan struct{}, 1), full: make(chan struct{}, 1)}
	for family := range l.Partitions {
		w.buffers[family] = newBuffer(c.tables[family], l.Bytes, w.begun, w.full)
	}
	l.report.hold(w)
	work, ctx := errgroup.WithContext(ctx)
	for s, from := range c.at {
		work.Go(func() error { return w.read(ctx, s, from) })
	}
	work.Go(func() error {
		<-ctx.Done()
		for _, b := range w.buffers {
			b.end()
		}
		return nil
	})
	work.Go(func() error { return w.commitUntil(ctx) })
	work.Go(func() error { return w.keepTidy(ctx) })
	work.Go(func() error { return w.watchCatalog(ctx) })
	return work.Wait()
}

// read gives the facts of a partition to its buffer.
func (w *writer) read(ctx context.Context, s source, from int64) error {
	for {
		batch, err := w.Facts.Next(ctx, s.family, s.partition, from)
		if err == nil {
			err = w.buffers[s.family].add(ctx, s, &batch)
		}
		if err != nil {
			return err
		}
		from = batch.To
	}
}

// commitUntil commits what was gathered: when that has waited for the interval, or a file is
// at its limit.
func (w *writer) commitUntil(ctx context.Context) error {
	due, waiting := time.NewTimer(w.Every), false // due counts while something waits
	due.Stop()
	for {
		select {
		case <-w.begun:
			if !waiting && w.gathered() {
				waiting = true
				due.Reset(w.Every)
			}
			continue
		case <-w.full:
		case <-due.C:
		case <-ctx.Done():
			return nil
		}
		waiting = false
		due.Stop()
		if !w.gathered() { // the signals of a buffer that was cut meanwhile
			continue
		}
		if err := w.commitCut(ctx); err != nil {
			return err
		}
	}
}

// gathered reports whether there is something to commit.
func (w *writer) gathered() bool {
	for _, b := range w.buffers {
		if any, _ := b.pending(); any {
			return true
		}
	}
	return false
}

// commitCut cuts the files, uploads them and commits them.
func (w *writer) commitCut(ctx context.Context) error {
	var cut []*newFile
	for family, b := range w.buffers {
		if f := b.cut(); f != nil {
			cut = append(cut, &newFile{table: w.catalog.tables[family], name: newName() + ".parquet", file: f})
		}
	}
	if err := w.anchors.prove(ctx, cut); err != nil {
		return err
	}
	files := slices.DeleteFunc(slices.Clone(cut), func(f *newFile) bool { return f.rows == 0 })
	if len(files) > 0 {
		if err := w.upload(ctx, files); err != nil {
			return err
		}
	}
	return w.commit(ctx, cut, files)
}

// newFile is a file that was cut.
type newFile struct {
	*file
	table *tableEntry
	name  string
	stats stats
}

func (f *newFile) path() string { return f.table.folder() + f.name }

// upload ends the files and writes them to the object store, two at a time.
func (w *writer) upload(ctx context.Context, cut []*newFile) error {
	paths := make([]string, len(cut))
	for i, f := range cut {
		paths[i] = f.path()
	}
	if err := w.intend(ctx, paths); err != nil {
		return err
	}
	if err := w.hook("intended"); err != nil {
		return err
	}
	both, ctx := errgroup.WithContext(ctx)
	both.SetLimit(2)
	for _, f := range cut {
		both.Go(func() (err error) {
			if f.stats, err = f.parquet.Close(); err != nil {
				return fmt.Errorf("end a file of the table %s: %w", f.table.Name, err)
			}
			if err := w.put(ctx, f.path(), f.content.Bytes()); err != nil {
				return err
			}
			return w.hook("uploaded " + f.table.Name)
		})
	}
	if err := both.Wait(); err != nil {
		return err
	}
	return w.hook("uploaded")
}

// intend records that files are about to be uploaded.
func (w *writer) intend(ctx context.Context, paths []string) error {
	_, err := w.Pool.Exec(ctx, `INSERT INTO lake.netsim_upload (path) SELECT unnest($1::text[])`, paths)
	if err != nil {
		return fmt.Errorf("record the files of the lake that are uploaded: %w", err)
	}
	return nil
}

// put writes a file.
func (w *writer) put(ctx context.Context, path string, content []byte) error {
	key, err := w.key(w.dataPath, path)
	if err != nil {
		return err
	}
	u := w.Objects.Create(ctx, key, contentType)
	if _, err := u.Write(content); err != nil {
		return fmt.Errorf("upload a file of the lake: %w", err)
	}
	if err := u.Close(); err != nil {
		return fmt.Errorf("upload a file of the lake: %w", err)
	}
	return nil
}

const contentType = "application/vnd.apache.parquet"
