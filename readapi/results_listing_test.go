package readapi_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// stored is a result file that a test publishes.
type stored struct {
	name, kind string
	content    []byte
}

// publish replaces the results of a simulation in the default workspace by the
// files, in their order.
func publish(t *testing.T, w *testworld.World, id string, files []stored) {
	t.Helper()
	publishIn(t, w, events.DefaultWorkspace, id, files)
}

func publishIn(t *testing.T, w *testworld.World, workspace, id string, files []stored) {
	t.Helper()
	prefix := "results/" + id + "/" + events.NewID("attempt") + "/"
	list := []object{}
	for _, f := range files {
		if _, err := w.Objects.Put(t.Context(), prefix+f.name, "text/csv", bytes.NewReader(f.content)); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(f.content)
		list = append(list, object{
			"name": f.name, "size": len(f.content), "sha256": hex.EncodeToString(sum[:]), "contentType": "text/csv", "type": f.kind,
		})
	}
	text, err := json.Marshal(object{"files": list})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Objects.Put(t.Context(), prefix+"manifest.json", "application/json", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	testworld.In(t, w, workspace, id, commands.PublishResults{Published: events.SimulationResultsPublished{Prefix: prefix, Manifest: prefix + "manifest.json"}})
}

// TestResultsListing: for every combination of filters and orders, the list of a
// run with several shards has exactly the matching files, in order.
func TestResultsListing(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := submit(t, user, with(workload(8, "allReduce"), "name", "a-nd*stats"))
	completed(user, id)
	var files []stored
	for i, name := range []string{
		"a-nd_stats-topology-report-0.csv", "a-nd_stats-perf-0.csv", "a-nd_stats-nd-stats-0.csv", "a-nd_stats-perf-1.csv",
		"a-nd_stats-nd-stats-1.csv", "a-nd_stats-perf-2.csv", "a-nd_stats-nd-stats-10.csv", "a-nd_stats-collective-percentiles-0.csv",
		"summary.json", "run.log", "notes.txt", "checkpoints/1.state", "checkpoints/2.state", "nic-0.pcap", "extra/x.bin", "receipt.json",
		"other-perf-0.csv", "a-nd_stats-perf-x.csv",
	} {
		kind := "unknown"
		for suffix, k := range map[string]string{".csv": "csv", ".json": "json", ".log": "log", ".txt": "log", ".state": "state", ".pcap": "pcap"} {
			if strings.HasSuffix(name, suffix) {
				kind = k
			}
		}
		files = append(files, stored{name, kind, bytes.Repeat([]byte("x"), (i*7)%5*100)}) // sizes repeat
	}
	publish(t, p.Beside(t), id, files)
	path := simulations + "/" + id + "/results"
	record := func(name string) string {
		rest, ours := strings.CutPrefix(name, "a-nd_stats-")
		for _, r := range []string{"perf", "nd-stats", "topology-report", "collective-percentiles"} {
			if shard, is := strings.CutPrefix(rest, r+"-"); ours && is && strings.HasSuffix(shard, ".csv") && shard != "x.csv" {
				return r
			}
		}
		return ""
	}
	for _, kind := range []string{"", "csv", "json", "log", "state", "pcap", "unknown"} {
		for _, metrics := range []string{"", "perf", "nd-stats", "topology-report", "pfc", "stats", "csv"} {
			for _, sort := range []string{"", "created_at", "size"} {
				for _, order := range []string{"", "asc", "desc"} {
					var want []string
					chosen := slices.DeleteFunc(slices.Clone(files), func(f stored) bool {
						return kind != "" && f.kind != kind || metrics != "" && record(f.name) != metrics
					})
					if sort == "size" {
						slices.SortStableFunc(chosen, func(a, b stored) int { return cmp.Compare(len(a.content), len(b.content)) })
					}
					if order != "asc" {
						slices.Reverse(chosen)
					}
					for _, f := range chosen {
						want = append(want, f.name)
					}
					query := "?limit=5"
					for name, value := range map[string]string{"type": kind, "metrics": metrics, "sort": sort, "order": order} {
						if value != "" {
							query += "&" + name + "=" + value
						}
					}
					if got := pages(t, user, path+query, "files", "name"); !slices.Equal(got, want) {
						t.Errorf("%s (-want +got):\n%s", query, gocmp.Diff(want, got))
					}
				}
			}
		}
	}
	next := cursor(user, path+"?limit=5&order=asc")
	for _, other := range []string{"?limit=5&order=desc", "?limit=5&order=asc&type=csv", "?limit=5&order=asc&sort=size", "?limit=5&order=asc&metrics=perf"} {
		user.Get(path+other+"&next="+next).Refused(400, "VALIDATION_ERROR")
	}
	user.Get(path + "?limit=2&order=asc&cursor=" + next).Want(200) // the page size may change
	for _, bad := range []string{"type=xml", "sort=name", "order=up", "limit=0", "limit=101", "next=x", "metrics=" + strings.Repeat("x", 65)} {
		user.Get(path+"?"+bad).Refused(400, "VALIDATION_ERROR")
	}
}
