package runs

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netsim/content/simple"
	"netsim/infra/objects"
	"netsim/runs/execution"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/engine"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

// sink is an object store that drops what it gets, and counts it.
type sink struct{ calls, bytes atomic.Int64 }

func (s *sink) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			return nil, err
		}
		s.bytes.Add(n)
	}
	s.calls.Add(1)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Etag": {`"x"`}}, Body: http.NoBody, Request: r}, nil
}

// BenchmarkRun is a run from its order to its manifest, without the log and the database.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name      string
		ranks     int
		algorithm string
	}{{"ring-64", 64, collective.Ring}, {"halving-256", 256, collective.RecursiveHalvingDoubling}} {
		workload := collective.Workload{Ranks: c.ranks, Phases: []collective.Phase{
			{OperationType: collective.AllReduce, Algorithm: c.algorithm, DataSize: 1 << 20},
		}}
		b.Run(c.name, func(b *testing.B) { benchmarkRun(b, workload) })
	}
}

func benchmarkRun(b *testing.B, workload collective.Workload) {
	resolved, _, err := presets.NewSimple(&topology.Constraints{}, &workload, nil)
	if err != nil {
		b.Fatal(err)
	}
	submission, err := simple.New(resolved)
	if err != nil {
		b.Fatal(err)
	}
	doc, err := submission.Document()
	if err != nil {
		b.Fatal(err)
	}
	text, err := document.Canonical(doc)
	if err != nil {
		b.Fatal(err)
	}
	order := execution.Order{
		SimulationID: "sim", Name: "simulation", ConfigurationID: "cfg", ConfigurationVersion: 1, DocumentHash: execution.Hash(text), Document: text,
		DurationNs: simple.RunTime.Nanoseconds(), StartedAt: time.Unix(0, 0), Seed: 1, Traceset: &execution.Traceset{ID: "ts", Format: presets.Format, Files: []execution.File{
			{Name: presets.WorkloadFile, Hash: submission.Workload.File.Hash, Size: submission.Workload.File.Size},
		}},
	}
	store := &sink{}
	r := &Runner{Now: time.Now, Log: slog.New(slog.DiscardHandler), Objects: objects.New(objects.Config{
		Endpoint: "http://store", Region: "us-east-1", Bucket: "b", AccessKey: "a", SecretKey: "s",
		Wrap: func(*http.Transport) http.RoundTripper { return store },
	})}
	b.ReportAllocs()
	for b.Loop() {
		in, err := execution.Prepare(b.Context(), &order, content(submission.Workload.Content))
		if err != nil {
			b.Fatal(err)
		}
		calls := &storeCalls{Runner: r, simulation: "sim", log: &runLog{now: time.Now}}
		files := calls.newFiles(b.Context())
		run, err := execution.Start(in, execution.Config{Create: files.create})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := run.Run(b.Context()); err != nil {
			b.Fatal(err)
		}
		end, err := run.Close("")
		if err != nil {
			b.Fatal(err)
		}
		receipt := execution.NewReceipt(order, execution.Builtin, engine.Version, end, files.results())
		if err := files.writeJSON(execution.ReceiptName, receipt); err != nil {
			b.Fatal(err)
		}
		if _, err := files.seal(); err != nil {
			b.Fatal(err)
		}
	}
	n := float64(b.N)
	b.ReportMetric(float64(store.calls.Load())/n, "calls/op")
	b.ReportMetric(float64(store.bytes.Load())/n, "stored-B/op")
}

type content string

func (c content) Open(context.Context, execution.File) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(string(c))), nil
}

func (content) Unpacked(context.Context, *execution.Traceset) ([]execution.File, error) {
	return nil, nil
}
