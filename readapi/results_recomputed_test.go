package readapi_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"netsim/internal/servicetest"
	"netsim/internal/testwait"
	"netsim/simulator/results"
)

// shards splits a CSV file into at most n files, each with the header.
func shards(content []byte, n int) (all [][]byte) {
	lines := bytes.SplitAfter(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
	header, rows := lines[0], lines[1:]
	for part := range slices.Chunk(rows, len(rows)/n+1) {
		all = append(all, append(append([]byte{}, header...), bytes.TrimSuffix(bytes.Join(part, nil), []byte("\n"))...))
	}
	return all
}

// TestResultDataOfShards: results/data of a run with several shards equals an
// independent computation from the CSV files. Concurrent requests compute it only
// once.
func TestResultDataOfShards(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := submit(t, user, with(workload(64, "allToAll"), "name", "run"))
	completed(user, id)
	path := simulations + "/" + id + "/results"
	fetch := func(name string) []byte {
		return download(t, user.Get(path + "/download-url?fileName=" + name).Want(200).Object()["downloadUrl"].(string))
	}
	links, perf := fetch("run-nd-stats-0.csv"), fetch("run-perf-0.csv")
	var files []stored
	for record, content := range map[string][]byte{"nd-stats": links, "perf": perf} {
		for i, shard := range shards(content, 3) {
			files = append(files, stored{fmt.Sprintf("run-%s-%d.csv", record, i), "csv", shard})
		}
	}
	publish(t, p.Beside(t), id, files)

	first := computeAtOnce(t, user, path+"/data?metric=nd-stats")
	var whole dataOfLinks
	first.content(t, &whole)
	want := linksOf(t, links)
	if diff := gocmp.Diff(want, whole, gocmp.Comparer(alike)); diff != "" {
		t.Errorf("all tiers (-from CSV +data):\n%s", diff)
	}
	if int(first.Metadata.RowsProcessed) != bytes.Count(links, []byte("\n"))-1 {
		t.Errorf("got %v processed rows, want those of the CSV file", first.Metadata.RowsProcessed)
	}
	for number, tier := range results.Tiers() {
		var part dataOfLinks
		got := computeAtOnce(t, user, path+"/data?metric=nd-stats&tier="+tier)
		got.content(t, &part)
		only := dataOfLinks{Tiers: slices.DeleteFunc(slices.Clone(want.Tiers), func(x tierData) bool { return x.Tier != tier })}
		if diff := gocmp.Diff(only.Tiers, part.Tiers, gocmp.Comparer(alike), gocmp.Transformer("none", func(l []tierData) []tierData { return append([]tierData{}, l...) })); diff != "" {
			t.Errorf("tier %s (-from CSV +data):\n%s", tier, diff)
		}
		same := user.Get(path + "/data?metric=nd-stats&tier=" + strconv.Itoa(number)).Want(200).Object()
		if same["tier"] != tier || same["metadata"].(object)["cached"] != true {
			t.Errorf("tier %d: got %v, want the cached summary of its name", number, same)
		}
	}
	var paths dataOfPerf
	computeAtOnce(t, user, path+"/data?metric=perf").content(t, &paths)
	if diff := gocmp.Diff(perfOf(t, perf), paths, gocmp.Comparer(alike)); diff != "" {
		t.Errorf("perf (-from CSV +data):\n%s", diff)
	}
	user.Get(path+"/data?metric=pfc").Refused(404, "NOT_FOUND")
}

// alike reports whether two figures are equal within the precision of histograms:
// 0.2 % plus 0.0101.
func alike(a, b float64) bool { return math.Abs(a-b) <= 0.0101+math.Abs(b)/500 }

// data is a response of results/data.
type data struct {
	File     struct{ DownloadURL string }
	Metadata struct {
		Cached                       bool
		ComputedAt                   string
		RowsProcessed, ComputeTimeMs int64
	}
}

func (d data) content(t *testing.T, into any) {
	t.Helper()
	reader, err := zstd.NewReader(bytes.NewReader(download(t, d.File.DownloadURL)))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := json.NewDecoder(reader).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// computeAtOnce sends ten concurrent requests. It checks that one of them computes
// the summary and that the others get its result.
func computeAtOnce(t *testing.T, user *servicetest.Client, path string) data {
	t.Helper()
	answers := make([]data, 10)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			if reply := user.Get(path); reply.Status == http.StatusOK {
				reply.Into(&answers[i])
			}
		})
	}
	testwait.Group(t, &all, "the concurrent requests")
	computed := 0
	for _, a := range answers {
		if !a.Metadata.Cached {
			computed++
		}
		if a.Metadata.ComputedAt != answers[0].Metadata.ComputedAt || a.Metadata.RowsProcessed != answers[0].Metadata.RowsProcessed {
			t.Errorf("%s: concurrent responses differ: %+v and %+v", path, a.Metadata, answers[0].Metadata)
		}
	}
	if computed != 1 {
		t.Errorf("%s: got %d computations, want 1", path, computed)
	}
	return answers[0]
}

// dataOfLinks is the content of nd-stats summaries.
type dataOfLinks struct {
	Tiers   []tierData
	Series  []pointData
	Hottest []hotData
}

type tierData struct {
	Tier                                string
	Interfaces, BytesTx, BytesRx, Drops float64
	UtilPercent                         struct{ Mean, P50, P99, Max float64 }
}

type pointData struct {
	SimTimeSec                      float64
	Tier                            string
	MeanUtilPercent, MaxUtilPercent float64
}

type hotData struct {
	ComponentName   string
	Ifid            float64
	Uldl            string
	MeanUtilPercent float64
}

// rowsOf reads a CSV file into columns by name.
func rowsOf(t *testing.T, content []byte) (rows []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range all[1:] {
		row := map[string]string{}
		for i, column := range all[0] {
			row[column] = fields[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func meanOf(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// nearestRank returns the nearest-rank percentile of values; part is between 0 and
// 1.
func nearestRank(values []float64, part float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(part*float64(len(sorted))-1e-9))-1)]
}

func linksOf(t *testing.T, content []byte) (want dataOfLinks) {
	t.Helper()
	rows := rowsOf(t, content)
	type ifc struct{ name, ifid, uldl string }
	ofIfc := map[ifc][]float64{}
	for tierNumber, tier := range results.Tiers() {
		x := tierData{Tier: tier}
		var util []float64
		seen := map[ifc]bool{}
		for _, row := range rows {
			if row["tier"] != strconv.Itoa(tierNumber) {
				continue
			}
			key := ifc{row["component_name"], row["ifid"], row["uldl"]}
			u := number(t, row["tx_link_percent_util"])
			util, seen[key] = append(util, u), true
			ofIfc[key] = append(ofIfc[key], u)
			x.BytesTx += math.Round(1e6 * number(t, row["interval_bytes_tx_MB"]))
			x.BytesRx += math.Round(1e6 * number(t, row["interval_bytes_rx_MB"]))
		}
		if x.Interfaces = float64(len(seen)); len(util) == 0 {
			continue
		}
		x.UtilPercent.Mean, x.UtilPercent.Max = meanOf(util), slices.Max(util)
		x.UtilPercent.P50, x.UtilPercent.P99 = nearestRank(util, 0.5), nearestRank(util, 0.99)
		want.Tiers = append(want.Tiers, x)
	}
	for start := 0; start < len(rows); {
		end := start
		for end < len(rows) && rows[end]["sim_time_sec"] == rows[start]["sim_time_sec"] {
			end++
		}
		for tierNumber, tier := range results.Tiers() {
			var util []float64
			for _, row := range rows[start:end] {
				if row["tier"] == strconv.Itoa(tierNumber) {
					util = append(util, number(t, row["tx_link_percent_util"]))
				}
			}
			if len(util) > 0 {
				want.Series = append(want.Series, pointData{number(t, rows[start]["sim_time_sec"]), tier, meanOf(util), slices.Max(util)})
			}
		}
		start = end
	}
	for key, util := range ofIfc {
		want.Hottest = append(want.Hottest, hotData{key.name, number(t, key.ifid), key.uldl, math.Trunc(1e6*meanOf(util)) / 1e6})
	}
	slices.SortFunc(want.Hottest, func(a, b hotData) int {
		return cmp.Or(cmp.Compare(b.MeanUtilPercent, a.MeanUtilPercent), strings.Compare(a.ComponentName, b.ComponentName), cmp.Compare(a.Ifid, b.Ifid))
	})
	want.Hottest = want.Hottest[:min(10, len(want.Hottest))]
	return want
}

// dataOfPerf is the content of perf summaries.
type dataOfPerf struct{ Paths []pathData }

type pathData struct {
	MetricPath   string
	Count, Bytes float64
	Usec         struct {
		Mean, P50, P99 float64
		P999           float64 `json:"p99_9"`
		Max            float64
	}
}

func perfOf(t *testing.T, content []byte) (want dataOfPerf) {
	t.Helper()
	var usec []float64
	x := pathData{}
	for _, row := range rowsOf(t, content) {
		x.MetricPath = row["metric_path"]
		x.Count++
		x.Bytes += number(t, row["flow_comm_size"])
		usec = append(usec, number(t, row["perf_metric_usec"]))
	}
	x.Usec.Mean, x.Usec.Max = meanOf(usec), slices.Max(usec)
	x.Usec.P50, x.Usec.P99, x.Usec.P999 = nearestRank(usec, 0.5), nearestRank(usec, 0.99), nearestRank(usec, 0.999)
	want.Paths = append(want.Paths, x)
	return want
}
