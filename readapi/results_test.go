package readapi_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"netsim/events"
	"netsim/internal/servicetest"
)

// download gets a download link without a token, as clients do.
func download(t *testing.T, url string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %v: %.200s", resp.Status, err, body)
	}
	return body
}

func TestResults(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := submit(t, user, with(workload(64, "allReduce"), "name", "my*run"))
	completed(user, id)
	path := simulations + "/" + id + "/results"

	got := user.Get(path).Want(200).Object()
	summary := got["summary"].(object)
	if got["simulationId"] != id || got["duration"] == "0ns" || summary["totalPackets"] == 0.0 || summary["dropRate"] != 0.0 {
		t.Errorf("got %v, want a duration and packets without drops", got)
	}
	if shown := user.Get(strings.TrimPrefix(got["dashboardUrl"].(string), p.URL)).Want(200).Object(); shown["id"] != id {
		t.Errorf("dashboardUrl %v leads to %v, want the simulation", got["dashboardUrl"], shown)
	}
	all := pages(t, user, path+"?limit=2", "files", "name")
	for _, want := range []string{"my_run-perf-0.csv", "my_run-rank-completion-0.csv", "summary.json", "run.log"} {
		if !slices.Contains(all, want) {
			t.Errorf("no %s in the files %v", want, all)
		}
	}
	ascending := pages(t, user, path+"?limit=3&order=asc", "files", "name")
	slices.Reverse(ascending)
	if !slices.Equal(all, ascending) {
		t.Errorf("ascending is not descending reversed: %v, %v", all, ascending)
	}
	if bySize := pages(t, user, path+"?limit=3&sort=size", "files", "name"); len(bySize) != len(all) {
		t.Errorf("got %v by size, want as many files as without an order", bySize)
	}
	for filter, want := range map[string]string{"metrics=perf": "my_run-perf-0.csv", "type=log": "run.log"} {
		if files := pages(t, user, path+"?"+filter, "files", "name"); !slices.Equal(files, []string{want}) {
			t.Errorf("%s: got the files %v, want %s", filter, files, want)
		}
	}
	for _, filter := range []string{"metrics=pfc", "metrics=", "type=pcap"} {
		if files := pages(t, user, path+"?"+filter, "files", "name"); len(files) != 0 && filter != "metrics=" {
			t.Errorf("%s: got the files %v, want none", filter, files)
		}
	}
	for _, bad := range []string{"type=exe", "sort=name", "order=up", "limit=0", "limit=101", "next=x"} {
		user.Get(path+"?"+bad).Refused(400, "VALIDATION_ERROR")
	}
	user.Get(path+"?limit=2&type=csv&next="+cursor(user, path+"?limit=2")).Refused(400, "VALIDATION_ERROR")
	user.Get(simulations+"/sim_x/results").Refused(400, "VALIDATION_ERROR")
	user.Get(simulations+"/"+events.NewID(events.SimulationPrefix)+"/results").Refused(404, "NOT_FOUND")
	p.Bearer(t, "").Get(path).Refused(401, "UNAUTHORIZED")
}

func TestResultDownload(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := submit(t, user, with(workload(8, "allReduce"), "name", "run"))
	completed(user, id)
	path := simulations + "/" + id + "/results/download-url?fileName="

	got := user.Get(path + "run-perf-0.csv").Want(200).Object()
	if got["contentType"] != "text/csv" || got["fileName"] != "run-perf-0.csv" || got["simulationId"] != id {
		t.Errorf("got %v, want a CSV file", got)
	}
	expires, err := time.Parse(time.RFC3339, got["expiresAt"].(string))
	if err != nil || time.Until(expires) > 900*time.Second {
		t.Errorf("got expiresAt %v, %v, want at most 900 s from now", expires, err)
	}
	content := download(t, got["downloadUrl"].(string))
	sum := sha256.Sum256(content)
	if got["checksum"] != "sha256:"+hex.EncodeToString(sum[:]) || got["sizeBytes"] != float64(len(content)) {
		t.Errorf("%d bytes with the hash %x, but the response says %v", len(content), sum, got)
	}
	for name, status := range map[string]int{
		"": 400, "../x": 400, "/x": 400, "a..b": 400, "other.csv": 404, "RUN-perf-0.csv": 404,
	} {
		if reply := user.Get(path + name); reply.Status != status {
			t.Errorf("fileName=%s: status %d, want %d", name, reply.Status, status)
		}
	}
	user.Get(simulations+"/"+id+"/results/download-url").Refused(400, "VALIDATION_ERROR")
	user.Get(simulations+"/"+events.NewID(events.SimulationPrefix)+"/results/download-url?fileName=x").Refused(404, "NOT_FOUND")
}

func TestResultData(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := submit(t, user, workload(8, "allReduce"))
	completed(user, id)
	path := simulations + "/" + id + "/results/data"

	for _, query := range []string{"?metric=perf", "?metric=nd-stats", "?metric=nd-stats&tier=rsw", "?metric=nd-stats&tier=3&mode=summary", "?metric=critical-path", "?metric=timeline"} {
		first := user.Get(path + query).Want(200).Object()
		facts := first["metadata"].(object)
		if facts["cached"] != false || facts["rowsProcessed"] == 0.0 {
			t.Errorf("%s: got %v, want a new computation with rows", query, facts)
		}
		file := first["file"].(object)
		reader, err := zstd.NewReader(bytes.NewReader(download(t, file["downloadUrl"].(string))))
		if err != nil {
			t.Fatal(err)
		}
		var content object
		if err := json.NewDecoder(reader).Decode(&content); err != nil || len(content) == 0 {
			t.Errorf("%s: got the summary %v, %v, want members", query, content, err)
		}
		reader.Close()
		again := user.Get(path + query).Want(200).Object()["metadata"].(object)
		if again["cached"] != true || again["computedAt"] != facts["computedAt"] || again["rowsProcessed"] != facts["rowsProcessed"] {
			t.Errorf("%s repeated: got %v, want the cached %v", query, again, facts)
		}
	}
	link := simulations + "/" + id + "/results/download-url?fileName="
	traced := user.Get(path + "?metric=timeline&mode=perfetto").Want(200).Object()
	trace, err := gzip.NewReader(bytes.NewReader(download(t, traced["file"].(object)["downloadUrl"].(string))))
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(trace); err != nil || !bytes.Contains(content, []byte("rank 7")) || traced["mode"] != "perfetto" || traced["file"].(object)["contentType"] != "application/gzip" {
		t.Errorf("got a trace of %d bytes, %v, described as %v; want one that names rank 7", len(content), err, traced)
	}
	if got := user.Get(link + "summary/timeline-all.pftrace.gz").Want(200).Object(); got["contentType"] != "application/gzip" {
		t.Errorf("got %v, want the trace", got)
	}
	got := user.Get(link + "summary/nd-stats-rsw.json.zst").Want(200).Object()
	content := download(t, got["downloadUrl"].(string))
	sum := sha256.Sum256(content)
	if got["contentType"] != "application/zstd" || got["checksum"] != "sha256:"+hex.EncodeToString(sum[:]) || got["sizeBytes"] != float64(len(content)) {
		t.Errorf("%d bytes with the hash %x, but the response says %v", len(content), sum, got)
	}
	for _, other := range []string{"summary/nd-stats-fsw.json.zst", "summary/nd-stats-rsw.json.zst.facts", "manifest.json"} {
		user.Get(link+other).Refused(404, "NOT_FOUND") // the first is not computed, the others are not results
	}
	if got := user.Get(path + "?metric=nd-stats&tier=nic").Want(200).Object(); got["tier"] != "nic" || got["metadata"].(object)["cached"] != true {
		t.Errorf("tier=nic: got %v, want the cached summary", got)
	}
	user.Get(path+"?metric=pfc").Refused(404, "NOT_FOUND")
	for _, bad := range []string{"", "?metric=other", "?metric=perf&tier=rsw", "?metric=critical-path&tier=0", "?metric=timeline&tier=nic", "?metric=perf&mode=perfetto", "?metric=nd-stats&tier=4", "?metric=nd-stats&mode=raw"} {
		user.Get(path+bad).Refused(400, "VALIDATION_ERROR")
	}
	user.Get(simulations+"/"+events.NewID(events.SimulationPrefix)+"/results/data?metric=perf").Refused(404, "NOT_FOUND")
}
