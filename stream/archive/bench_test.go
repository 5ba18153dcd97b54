package archive_test

import (
	"testing"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/stream/archive"
	"netsim/stream/export"
)

// benchRecords are archived and restored by each benchmark: events of about 1 KB.
const benchRecords = 30_000

func benchWorld(b *testing.B) *world {
	b.Helper()
	w := newWorld(b, 0)
	value := []byte(`{"workspaceId":"ws_00000000000000000000000000","name":"a simulation of a collective","parameters":{"ranks":64,"size":1048576}}`)
	var all []*eventlog.Pending
	for i := range benchRecords {
		m := events.Message{Key: []byte(events.NewID("sim")), Value: value}
		for range 12 {
			m.Headers = append(m.Headers, events.Header{Key: "ce_header", Value: []byte(events.NewID("value"))})
		}
		all = append(all, w.log.Append(w.log.Topic(events.Families()[i%3]), int32(i/3%partitions), m))
	}
	for _, p := range all {
		if _, err := p.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	return w
}

// BenchmarkArchive archives a log to a directory.
func BenchmarkArchive(b *testing.B) {
	w := benchWorld(b)
	for b.Loop() {
		a := w.archiver(&export.Directory{Path: b.TempDir()})
		a.SegmentBytes = 0
		w.run(a)
	}
	b.ReportMetric(benchRecords*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkRestore restores it, reads it back and compares it.
func BenchmarkRestore(b *testing.B) {
	w := benchWorld(b)
	target := &export.Directory{Path: b.TempDir()}
	a := w.archiver(target)
	a.SegmentBytes = 0
	w.run(a)
	for b.Loop() {
		c := archive.Copy{From: w.open(target), To: open(b, prefix(b))}
		if _, err := c.Finish(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(benchRecords*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
