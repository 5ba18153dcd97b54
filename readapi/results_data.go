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
	if metric == api.ResultMetricPerf && tier != api.ResultDataTierAll {
		return nil, fault.New(fault.Validation, "tier must be all for the metric perf, got '%s'", r.Params.Tier)
	}
	set, err := a.results(ctx, r.SimID)
	if err != nil {
		return nil, err
	}
	shards := set.selected("csv", string(metric))
	if len(shards) == 0 {
		return nil, fault.New(fault.NotFound, "simulation %s has no data files for the metric %s", r.SimID, metric)
	}
	name := summaryName(string(metric), string(tier))
	facts, cached, err := a.summary(ctx, &set.simulation, name, string(metric), string(tier), shards)
	if err != nil {
		return nil, fmt.Errorf("summarise %s of %s: %w", metric, r.SimID, err)
	}
	link, err := a.link(ctx, &set.simulation, name, summaryType)
	if err != nil {
		return nil, err
	}
	return api.GetResultData200JSONResponse{
		SimulationID: r.SimID, Metric: metric, Mode: api.ResultDataModeSummary, Tier: tier,
		File: api.ResultDataFile{
			Name: name, Size: units.FormatSize(facts.Size), ContentType: summaryType,
			DownloadURL: link.URL, ExpiresAt: timestamp(link.Expires),
		},
		Metadata: api.ResultDataMetadata{
			Cached: cached, ComputedAt: timestamp(facts.ComputedAt),
			RowsProcessed: facts.RowsProcessed, ComputeTimeMs: facts.ComputeTimeMs,
		},
	}, nil
}

const summaryFolder = "summary/"

func summaryName(metric, tier string) string {
	return summaryFolder + metric + "-" + tier + ".json.zst"
}

func isSummary(name string) bool {
	return strings.HasPrefix(name, summaryFolder) && strings.HasSuffix(name, ".json.zst")
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
func (a *API) summary(ctx context.Context, s *projections.Simulation, name, metric, tier string, shards []resultFile) (summaryFacts, bool, error) {
	key := s.ResultsPrefix + name
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
		return a.summarise(ctx, s, key, metric, tier, shards)
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
func (a *API) summarise(ctx context.Context, s *projections.Simulation, key, metric, tier string, shards []resultFile) (summaryFacts, error) {
	began := a.Now()
	readers := make([]io.Reader, len(shards))
	for i, f := range shards {
		shard := &lateReader{open: func() (io.ReadCloser, error) {
			body, _, err := a.Objects.Get(ctx, s.ResultsPrefix+f.Name)
			return body, err
		}}
		defer shard.close()
		readers[i] = shard
	}
	var summary bytes.Buffer // percentiles and series; small for a run of any size
	var rows int64
	var err error
	if metric == string(api.ResultMetricPerf) {
		rows, err = results.SummarizePerf(&summary, readers...)
	} else {
		rows, err = results.SummarizeLinks(&summary, tier, readers...)
	}
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
	if _, err := a.Objects.Put(ctx, key, summaryType, &summary); err != nil {
		return facts, err
	}
	_, err = a.Objects.Put(ctx, key+".facts", "application/json", bytes.NewReader(text))
	return facts, err
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
