package archive_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/stream/archive"
)

// TestRefused: an archiver does not mix logs, and a restore does not write to topics that
// are not its own.
func TestRefused(t *testing.T) {
	t.Parallel()
	w, other, longer := newWorld(t, 60), newWorld(t, 60), newWorld(t, 70)
	target := w.directory()
	w.run(w.archiver(target))
	before := records(t, other.log)
	for name, c := range map[string]struct {
		run  func() error
		want string
	}{
		"an archive of another log": {func() error {
			a := w.archiver(target)
			a.Log = other.log
			return a.Run(t.Context())
		}, "was deleted and made again"},
		"an archive of another key": {func() error {
			a := other.archiver(target)
			return a.Run(t.Context())
		}, "it is not signed by"},
		"other files": {func() error {
			d := w.directory()
			if err := os.WriteFile(filepath.Join(d.Path, "x"), nil, 0o600); err != nil {
				return err
			}
			return w.archiver(d).Run(t.Context())
		}, "which is not of an archive"},
		"a log in use": {func() error {
			c := archive.Copy{From: w.open(target), To: longer.log}
			_, err := c.Finish(t.Context())
			return err
		}, "a topic of an unfinished copy has"},
		"a log in use with as many records": {func() error {
			c := archive.Copy{From: w.open(target), To: other.log}
			_, err := c.Finish(t.Context())
			return err
		}, "the topics have other records"},
		"an unfinished copy of another log": {func() error {
			to := open(t, prefix(t))
			first := archive.Copy{From: archive.Cluster{Log: other.log}, To: to}
			if _, err := first.Append(t.Context()); err != nil {
				return err
			}
			c := archive.Copy{From: w.open(target), To: to}
			_, err := c.Finish(t.Context())
			return err
		}, "the topics have other records"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.run(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
	if diff := cmp.Diff(before, records(t, other.log)); diff != "" {
		t.Errorf("a refused restore changed the log (-before +after):\n%.1000s", diff)
	}
}

// changedSource returns another first record for the first read of each partition.
type changedSource struct {
	archive.Source
	read map[string]bool
}

func (s changedSource) Records(ctx context.Context, family events.Family, partition int32, from int64) ([]events.Record, error) {
	records, err := s.Source.Records(ctx, family, partition, from)
	at := fmt.Sprint(family, partition)
	if len(records) > 0 && !s.read[at] {
		s.read[at] = true
		records = slices.Clone(records)
		records[0].Value = append(slices.Clone(records[0].Value), 'x')
	}
	return records, err
}

// TestACopyIsReadBack: a copy in which a record became another one on its way is not
// finished.
func TestACopyIsReadBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	to := open(t, prefix(t))
	c := archive.Copy{From: changedSource{archive.Cluster{Log: w.log}, map[string]bool{}}, To: to, Workers: 1}
	if _, err := c.Finish(t.Context()); err == nil || !strings.Contains(err.Error(), "delete the topics and repeat") {
		t.Errorf("the error is %v", err)
	}
	d, err := to.Describe(t.Context())
	if err != nil || to.Check(d) == nil {
		t.Errorf("the service would accept the copy (%v)", err)
	}
}

// TestAMirrorUnderLoad: a log is copied to another cluster while it is written to, and
// is the log when the writers have ended. A source that grows is not finished.
func TestAMirrorUnderLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	to := open(t, prefix(t))
	from := archive.Cluster{Log: w.log, ReadBytes: 10_000}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 10 {
			w.append(40 + i)
		}
	}()
	total, runs := int64(0), 0
	for writing := true; writing; runs++ {
		select {
		case <-done:
			writing = false
		default:
		}
		c := archive.Copy{From: from, To: to}
		n, err := c.Append(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	t.Logf("%d records in %d runs", total, runs)
	growing := archive.Copy{From: from, To: to, Step: func(step string) error {
		if step == "compared" {
			t.Error("a source that grew was taken for finished")
		}
		return nil
	}}
	var grow sync.Once
	growing.From = growingSource{from, func() { grow.Do(func() { w.append(1) }) }}
	if _, err := growing.Finish(t.Context()); err == nil || !strings.Contains(err.Error(), "appended to") && !strings.Contains(err.Error(), "other records") {
		t.Errorf("the error is %v", err)
	}
	c := archive.Copy{From: from, To: to}
	if _, err := c.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(records(t, w.log), records(t, to)); diff != "" {
		t.Errorf("(-log +mirrored):\n%.2000s", diff)
	}
}

// growingSource appends to the log after its ends were read for the last time.
type growingSource struct {
	archive.Cluster
	grow func()
}

func (s growingSource) Groups(ctx context.Context) ([]archive.Group, error) {
	return s.Cluster.Groups(ctx)
}

func (s growingSource) Records(ctx context.Context, family events.Family, partition int32, from int64) ([]events.Record, error) {
	s.grow()
	return s.Cluster.Records(ctx, family, partition, from)
}
