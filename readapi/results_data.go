package readapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"netsim/api"
	"netsim/fault"
	"netsim/projections"
	"netsim/simulator/results"
	"netsim/simulator/units"
)

const (
	summaryType    = "application/zstd"
	perfettoType   = "application/gzip"
	summaryTimeout = 5 * time.Minute // of a computation, which may outlive the request that started it
)

// summaryFacts describes a computed summary. Both are stored in the folder of the
// result set, so results that are published again begin without summaries.
type summaryFacts struct {
	Size          int64     `json:"size"`   // bytes, compressed
	SHA256        string    `json:"sha256"` // hex
	RowsProcessed int64     `json:"rowsProcessed"`
	ComputedAt    time.Time `json:"computedAt"`
	ComputeTimeMs int64     `json:"computeTimeMs"`
}

// GetResultData implements GET /simulations/{sim_id}/results/data
// (completions.md section 5.7): the summary of a metric, computed on the first
// request.
func (a *API) GetResultData(ctx context.Context, r api.GetResultDataRequestObject) (api.GetResultDataResponseObject, error) {
	metric, tier := r.Params.Metric, tierOf(r.Params.Tier)
	if metric != api.ResultMetricNdStats && metric != api.ResultMetricPfc && tier != api.ResultDataTierAll {
		return nil, fault.New(fault.Validation, "tier must be all for the metric %s, got '%s'", metric, r.Params.Tier)
	}
	mode := cmp.Or(api.ResultDataMode(r.Params.Mode), api.ResultDataModeSummary)
	if mode == api.ResultDataModePerfetto && metric != api.ResultMetricTimeline {
		return nil, fault.New(fault.Validation, "mode must be summary for the metric %s, got 'perfetto'", metric)
	}
	set, err := a.results(ctx, r.SimID)
	if err != nil {
		return nil, err
	}
	s := summarized{metric: metric, mode: mode, tier: tier, shards: set.shards(metric)}
	if len(s.shards) == 0 {
		return nil, fault.New(fault.NotFound, "simulation %s has no data files for the metric %s", r.SimID, metric)
	}
	facts, cached, err := a.summary(ctx, &set.simulation, &s)
	if err != nil {
		return nil, fmt.Errorf("summarise %s of %s: %w", metric, r.SimID, err)
	}
	name := s.name()
	link, err := a.link(ctx, &set.simulation, name, summaryTypeOf(name))
	if err != nil {
		return nil, err
	}
	return api.GetResultData200JSONResponse{
		SimulationID: r.SimID, Metric: metric, Mode: mode, Tier: tier,
		File: api.ResultDataFile{
			Name: name, Size: units.FormatSize(facts.Size), ContentType: summaryTypeOf(name),
			DownloadURL: link.URL, ExpiresAt: timestamp(link.Expires),
		},
		Metadata: api.ResultDataMetadata{
			Cached: cached, ComputedAt: timestamp(facts.ComputedAt),
			RowsProcessed: facts.RowsProcessed, ComputeTimeMs: facts.ComputeTimeMs,
		},
	}, nil
}

// summarized says what a summary is of.
type summarized struct {
	metric api.ResultMetric
	mode   api.ResultDataMode
	tier   api.ResultDataTier
	shards []shard
}

// shard is a CSV file of a record.
type shard struct {
	record string
	resultFile
}

// shards returns the CSV files that a metric is computed from, none if the run has no data
// for it.
func (s resultSet) shards(metric api.ResultMetric) (all []shard) {
	records := []string{string(metric)}
	if metric == api.ResultMetricTimeline {
		records = results.TimelineRecords()
	}
	for _, record := range records {
		for _, f := range s.selected("csv", record) {
			all = append(all, shard{record, f})
		}
	}
	return all
}

const (
	summaryFolder  = "summary/"
	summarySuffix  = ".json.zst"
	perfettoSuffix = ".pftrace.gz"
)

// name returns the name of the summary's file, below the prefix of the results.
func (s *summarized) name() string {
	suffix := summarySuffix
	if s.mode == api.ResultDataModePerfetto {
		suffix = perfettoSuffix
	}
	return summaryFolder + string(s.metric) + "-" + string(s.tier) + suffix
}

// summaryTypeOf returns the content type of a summary's file, "" if the name is not one's.
func summaryTypeOf(name string) string {
	switch {
	case !strings.HasPrefix(name, summaryFolder):
		return ""
	case strings.HasSuffix(name, perfettoSuffix):
		return perfettoType
	case strings.HasSuffix(name, summarySuffix):
		return summaryType
	}
	return ""
}

// tierOf returns the tier of a name or a number; "" is all tiers.
func tierOf(asked api.GetResultDataParamsTier) api.ResultDataTier {
	for number, tier := range results.Tiers() {
		if string(asked) == fmt.Sprint(number) {
			return api.ResultDataTier(tier)
		}
	}
	return cmp.Or(api.ResultDataTier(asked), api.ResultDataTierAll)
}

// summary returns the facts of a summary, and whether it was cached. Concurrent
// requests for a missing summary wait for one computation. Only the request that
// started the computation reports false.
func (a *API) summary(ctx context.Context, s *projections.Simulation, of *summarized) (summaryFacts, bool, error) {
	key := s.ResultsPrefix + of.name()
	facts, err := a.summaryFacts(ctx, key)
	if !fault.Is(err, fault.NotFound) {
		return facts, err == nil, err
	}
	mine := false
	computed := a.summaries.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), summaryTimeout)
		defer cancel()
		// Another computation may have ended since the facts were read.
		if facts, err := a.summaryFacts(ctx, key); !fault.Is(err, fault.NotFound) {
			return facts, err
		}
		mine = true
		return a.summarise(ctx, s, key, of)
	})
	select {
	case done := <-computed:
		facts, _ := done.Val.(summaryFacts)
		return facts, !mine, done.Err
	case <-ctx.Done():
		return summaryFacts{}, false, ctx.Err()
	}
}

func (a *API) summaryFacts(ctx context.Context, key string) (facts summaryFacts, err error) {
	body, _, err := a.Objects.Get(ctx, key+".facts")
	if err != nil {
		return facts, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	return facts, json.NewDecoder(body).Decode(&facts)
}

// summarise computes the summary of the shards. It stores the summary before its
// facts, so stored facts always have a summary.
func (a *API) summarise(ctx context.Context, s *projections.Simulation, key string, of *summarized) (summaryFacts, error) {
	began := a.Now()
	readers := make([]io.Reader, len(of.shards))
	for i, f := range of.shards {
		shard := &lateReader{open: func() (io.ReadCloser, error) {
			body, _, err := a.Objects.Get(ctx, s.ResultsPrefix+f.Name)
			return body, err
		}}
		defer shard.close()
		readers[i] = shard
	}
	var summary bytes.Buffer // small for a run of any size; a timeline some 20 MB
	rows, err := a.compute(&summary, of, readers)
	if err != nil {
		return summaryFacts{}, err
	}
	sum := sha256.Sum256(summary.Bytes())
	facts := summaryFacts{
		Size: int64(summary.Len()), SHA256: hex.EncodeToString(sum[:]), RowsProcessed: rows,
		ComputedAt: a.Now().UTC(), ComputeTimeMs: a.Now().Sub(began).Milliseconds(),
	}
	text, err := json.Marshal(facts)
	if err != nil {
		return facts, err
	}
	if _, err := a.Objects.Put(ctx, key, summaryTypeOf(of.name()), &summary); err != nil {
		return facts, err
	}
	_, err = a.Objects.Put(ctx, key+".facts", "application/json", bytes.NewReader(text))
	return facts, err
}

// compute computes the summary of the shards and returns the number of rows. One timeline at
// a time is in memory, with some 50 MB.
func (a *API) compute(w io.Writer, of *summarized, shards []io.Reader) (int64, error) {
	switch of.metric {
	case api.ResultMetricPerf:
		return results.SummarizePerf(w, shards...)
	case api.ResultMetricCriticalPath:
		return results.SummarizeCritical(w, shards...)
	case api.ResultMetricTimeline:
		a.timelines.Lock()
		defer a.timelines.Unlock()
		named := make([]results.Shard, len(shards))
		for i, shard := range shards {
			named[i] = results.Shard{Record: of.shards[i].record, Reader: shard}
		}
		if of.mode == api.ResultDataModePerfetto {
			return results.TracePerfetto(w, named...)
		}
		return results.PlotTimeline(w, named...)
	default:
		return results.SummarizeLinks(w, string(of.tier), shards...)
	}
}

// lateReader opens its object on the first read and closes it at the end. Only
// one of many shards is therefore open at a time.
type lateReader struct {
	open func() (io.ReadCloser, error)
	body io.ReadCloser
}

func (r *lateReader) Read(p []byte) (int, error) {
	if r.body == nil {
		body, err := r.open()
		if err != nil {
			return 0, err
		}
		r.body = body
	}
	n, err := r.body.Read(p)
	if errors.Is(err, io.EOF) {
		r.close()
		r.body = drained{}
	}
	return n, err
}

func (r *lateReader) close() {
	if r.body != nil {
		_ = r.body.Close() // it was only read
	}
}

// drained is the body of a lateReader after its end.
type drained struct{}

func (drained) Read([]byte) (int, error) { return 0, io.EOF }
func (drained) Close() error             { return nil }
