package traces_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/library"
	"netsim/content/traces"
	"netsim/events"
	"netsim/infra/objects"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
)

// uploads maps the names of files to their content. Files whose names begin with
// comm_ are supporting.
type uploads map[string]string

// world is a test world in which tracesets are extracted.
type world struct {
	*testworld.World

	t *testing.T
}

func newWorld(t *testing.T) world {
	t.Helper()
	return world{testworld.New(t), t}
}

// put stores files, except those with the content "lost", and records their
// traceset.
func (w world) put(files uploads, workload string) string {
	w.t.Helper()
	made := events.TracesetCreated{
		AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace, Name: "traces", Format: "chakra_json_v1",
		TTLDays: 7, Status: commands.TracesetProcessing, Workload: workload,
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[name]))
		f := events.TracesetFile{Name: name, Hash: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(files[name])), Role: events.RolePrimary}
		if strings.HasPrefix(name, "comm_") {
			f.Role = events.RoleSupporting
		}
		made.Files = append(made.Files, f)
	}
	made.LibraryHash = library.Hash(made.Files)
	for i := range made.Files {
		f := &made.Files[i]
		f.ObjectKey = library.Key(made.LibraryHash, f.Hash)
		if content := files[f.Name]; content != "lost" {
			if _, err := w.Objects.Put(w.t.Context(), f.ObjectKey, "application/octet-stream", strings.NewReader(content)); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	id := events.NewID(events.TracesetPrefix)
	to := handle.Target{Stream: id, PartitionKey: made.WorkspaceID, Fresh: true}
	if _, err := handle.Command(w.t.Context(), w.Commands, to, handle.Origin{Actor: "tester"},
		commands.Command[commands.Traceset](commands.CreateTraceset{Created: made})); err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w world) extractor() *traces.Extractor {
	return &traces.Extractor{Commands: w.Commands, DB: w.DB, Objects: w.Objects}
}

func (w world) row(id string) projections.Traceset {
	w.t.Helper()
	t, err := projections.FindTraceset(w.t.Context(), w.DB, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

// extract stores files as a traceset and extracts its metadata.
func (w world) extract(files uploads, workload string) projections.Traceset {
	w.t.Helper()
	id := w.put(files, workload)
	if err := w.extractor().Extract(w.t.Context(), id); err != nil {
		w.t.Fatal(err)
	}
	return w.row(id)
}

// recorded returns trace files from the tests of package chakra.
func recorded(t *testing.T, pattern string) uploads {
	t.Helper()
	names, err := filepath.Glob("../../simulator/chakra/testdata/" + pattern)
	if err != nil || len(names) == 0 {
		t.Fatal(pattern, err)
	}
	files := uploads{}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(content)
	}
	return files
}

// reducing returns the trace of a rank that computes once and then reduces once
// in a group. "" is the group of all ranks.
func reducing(group string) string {
	return `{"version": "0.0.4"}
		{"id": "1", "name": "compute", "type": "COMP_NODE", "durationMicros": "7"}
		{"id": "2", "name": "reduce", "type": "COMM_COLL_NODE", "dataDeps": ["1"], "attr": [
			{"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "1024"}, {"name": "pg_name", "stringVal": "` + group + `"}]}`
}

// ranks returns the traces of n ranks, each made by reducing.
func ranks(n int) uploads {
	files := uploads{}
	for rank := range n {
		files[fmt.Sprintf("rank_%d.chakra.json", rank)] = reducing("")
	}
	return files
}

func with(files uploads, name, content string) uploads {
	files = maps.Clone(files)
	files[name] = content
	return files
}

func without(files uploads, name string) uploads {
	files = maps.Clone(files)
	delete(files, name)
	return files
}

func summaryOf(t *testing.T, row projections.Traceset) traces.Summary {
	t.Helper()
	s, err := traces.ReadSummary(row.Summary)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Source: completions 6.1, 6.3.
func TestExtractRecordedTraces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for pattern, want := range map[string]struct {
		ranks    int64
		format   string
		summary  traces.Summary
		warnings int
	}{
		"ring/*": {8, "chakra_et_v1", traces.Summary{
			Nodes: 280, ComputeMicros: 392,
			Sends: traces.Traffic{Count: 112, Bytes: 8 * 1835008}, Receives: traces.Traffic{Count: 112, Bytes: 8 * 1835008},
		}, 0},
		"json/*": {4, "chakra_json_v1", traces.Summary{
			Nodes: 4, Groups: 1, GroupSizes: []int64{4}, Collectives: []traces.Traffic{{Kind: "ALL_REDUCE", Count: 4, Bytes: 4 << 20}},
		}, 0},
		"gzip/*": {4, "chakra_et_v1", traces.Summary{
			Nodes: 4, Groups: 1, GroupSizes: []int64{4}, Collectives: []traces.Traffic{{Kind: "ALL_REDUCE", Count: 4, Bytes: 4 << 20}},
		}, 0},
	} {
		row := w.extract(recorded(t, pattern), "")
		if row.Status != commands.TracesetReady || row.RankCount != want.ranks || row.Format != want.format || row.Layout != events.LayoutFiles {
			t.Errorf("%s: %s %s, %d ranks, format %s, layout %s", pattern, row.Status, row.Failure, row.RankCount, row.Format, row.Layout)
			continue
		}
		if diff := cmp.Diff(want.summary, summaryOf(t, row)); diff != "" {
			t.Errorf("%s: summary (-want +got):\n%s", pattern, diff)
		}
		var ranges []events.RankRange
		if err := json.Unmarshal([]byte(row.Ranges), &ranges); err != nil || int64(len(ranges)) != want.ranks {
			t.Errorf("%s: ranges %s, %v, want %d", pattern, row.Ranges, err, want.ranks)
		}
		for i, r := range ranges {
			if r.Start != int64(i) || r.End != int64(i) || !strings.Contains(r.File, fmt.Sprint(i)) {
				t.Errorf("%s: range %+v, want rank %d", pattern, r, i)
			}
		}
		opened, err := traces.Open(t.Context(), w.Objects, &row)
		if err != nil || int64(len(opened.Files)) != want.ranks {
			t.Errorf("%s: opened %d rank files, %v, want %d", pattern, len(opened.Files), err, want.ranks)
		}
	}
	row := w.extract(recorded(t, "pytorch/*"), "")
	if row.Status != commands.TracesetReady || !strings.Contains(row.Warnings, "1277 control dependencies") {
		t.Errorf("%s %s, warnings %s, want 1277 control dependencies", row.Status, row.Failure, row.Warnings)
	}
}

// TestExtractAgainstDescription: the client's description must declare the number
// of ranks that the files have.
func TestExtractAgainstDescription(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for workload, refused := range map[string]string{
		`{}`:                              "",
		`{"shape":{"rankCount":4}}`:       "",
		`{"shape":{"rankCount":5}}`:       "workloadMetadata.shape.rankCount is 5, and the files have 4 ranks",
		`{"parallelism":{"dp":2,"tp":2}}`: "",
		`{"parallelism":{"dp":2,"tp":2,"cp":9,"fsdp":3}}`:               "",
		`{"parallelism":{"cp":9}}`:                                      "",
		`{"parallelism":{"dp":2,"tp":1,"sp":1,"ep":1,"pp":1}}`:          "is 2, and the files have 4 ranks",
		`{"parallelism":{"dp":9007199254740991,"tp":9007199254740991}}`: "out of range",
	} {
		row := w.extract(ranks(4), workload)
		if want := map[bool]string{true: commands.TracesetReady, false: commands.TracesetMetadataFailed}[refused == ""]; row.Status != want || !strings.Contains(row.Failure, refused) {
			t.Errorf("%s: %s, %q, want %s with %q", workload, row.Status, row.Failure, want, refused)
		}
	}
	none := w.extract(uploads{"comm_groups.json": `{"g": [0]}`}, "")
	if none.Status != commands.TracesetMetadataFailed || none.Failure != "the traceset is empty: it has no rank file" {
		t.Errorf("a traceset without a rank file: %s: %s", none.Status, none.Failure)
	}
	const head = `{"version": "0.0.4"}`
	empty := w.extract(uploads{"rank_0.chakra.json": head, "rank_1.chakra.json": head}, "")
	if empty.Status != commands.TracesetMetadataFailed || empty.Failure != "the traceset is empty: no rank file has a node" {
		t.Errorf("a traceset without nodes: %s: %s", empty.Status, empty.Failure)
	}
}

func TestExtractGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := uploads{"comm_groups.json": `{"even": [0, 2], "odd": [1, 3]}`}
	for rank := range 4 {
		files[fmt.Sprintf("rank_%d.chakra.json", rank)] = reducing([]string{"even", "odd"}[rank%2])
	}
	row := w.extract(files, "")
	if s := summaryOf(t, row); row.Status != commands.TracesetReady || s.Groups != 2 || !cmp.Equal(s.GroupSizes, []int64{2}) || s.ComputeMicros != 28 {
		t.Errorf("%s %s: summary %+v, want 2 groups of 2", row.Status, row.Failure, s)
	}
	row = w.extract(with(files, "comm_groups.json", `{"even": [0, 1, 2], "odd": [3]}`), "")
	if row.Status != commands.TracesetMetadataFailed {
		t.Errorf("a rank outside its group: %s, want metadata_failed", row.Status)
	}
}

// TestRefusals: every refusal names the file and the reason.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	node := func(text string) string { return `{"version": "0.0.4"} ` + text }
	host := recorded(t, "refused/*")["pytorch_host_et.json.gz"]
	for name, c := range map[string]struct {
		files uploads
		want  []string
	}{
		"a rank missing":             {without(ranks(4), "rank_2.chakra.json"), []string{"rank_3.chakra.json", "rank 2 is missing"}},
		"a rank twice":               {with(ranks(2), "x.1.et", "x"), []string{"rank 1 already has the file rank_1"}},
		"a name without rank":        {with(ranks(2), "notes.txt", "x"), []string{"notes.txt: ", "rank_<n>.chakra.json"}},
		"a file that is not a trace": {with(ranks(2), "rank_1.chakra.json", "hello"), []string{"rank_1.chakra.json: "}},
		"an empty file":              {with(ranks(2), "rank_1.chakra.json", ""), []string{"rank_1.chakra.json: "}},
		"a host trace":               {uploads{"rank_0.chakra.json.gz": host}, []string{"rank_0.chakra.json.gz: ", "host"}},
		"a truncated file":           {with(ranks(2), "rank_1.chakra.json", reducing("")[:150]), []string{"rank_1.chakra.json: ", "ends in the middle"}},
		"a cycle": {with(ranks(1), "rank_0.chakra.json", node(`{"id": "1", "type": "COMP_NODE", "dataDeps": ["2"]} {"id": "2", "type": "COMP_NODE", "dataDeps": ["1"]}`)),
			[]string{"rank_0.chakra.json: node ", "cycle"}},
		"a send without a receive": {with(ranks(2), "rank_1.chakra.json", reducing("")+` {"id": "9", "type": "COMM_SEND_NODE", "attr": [
			{"name": "comm_size", "int64Val": "8"}, {"name": "comm_dst", "int32Val": 0}, {"name": "comm_tag", "int32Val": 3}]}`),
			[]string{"rank_1.chakra.json: node 9: rank 1 sends 1 messages to rank 0 with tag 3, which receives 0"}},
		"groups unreadable": {with(ranks(2), "comm_groups.json", "[]"), []string{"comm_groups.json: process groups must be"}},
		"a file not stored": {with(ranks(1), "rank_1.chakra.json", "lost"), []string{"rank_1.chakra.json", "not stored"}},
		"two errors":        {with(with(ranks(3), "rank_1.chakra.json", "x"), "rank_2.chakra.json", "x"), []string{"rank_1.chakra.json: ", "1 more"}},
	} {
		row := w.extract(c.files, "")
		if row.Status != commands.TracesetMetadataFailed {
			t.Errorf("%s: status %s, want %s", name, row.Status, commands.TracesetMetadataFailed)
		}
		for _, part := range c.want {
			if !strings.Contains(row.Failure, part) {
				t.Errorf("%s: %q, want %q in it", name, row.Failure, part)
			}
		}
	}
}

// TestExtractAgain: an extraction during an outage of the store records nothing.
// Of repeated extractions, only the first records a result.
func TestExtractAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.put(ranks(2), "")
	unreachable := w.extractor()
	unreachable.Objects = objects.New(objects.Config{Endpoint: "http://127.0.0.1:1", Region: "us-east-1", Bucket: "b", AccessKey: "k", SecretKey: "s"})
	if err := unreachable.Extract(t.Context(), id); err == nil || w.row(id).Status != commands.TracesetProcessing {
		t.Errorf("with an unreachable store: %v, status %s, want an error and processing", err, w.row(id).Status)
	}
	waiting, err := projections.ProcessingTracesets(t.Context(), w.extractor().DB, 100)
	if err != nil || !slices.Contains(waiting, id) {
		t.Errorf("processing tracesets %v, %v, want the traceset listed only before it is ready", waiting, err)
	}
	for range 2 {
		if err := w.extractor().Extract(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if waiting, err = projections.ProcessingTracesets(t.Context(), w.extractor().DB, 100); err != nil || slices.Contains(waiting, id) {
		t.Errorf("processing tracesets %v, %v, want the traceset listed only before it is ready", waiting, err)
	}
	gone := w.put(ranks(2), "")
	if _, err := handle.Command(t.Context(), w.Commands, handle.Target{Stream: gone, PartitionKey: events.DefaultWorkspace}, handle.Origin{Actor: "tester"},
		commands.Command[commands.Traceset](commands.DeleteTraceset{ID: gone, Reason: "request"})); err != nil {
		t.Fatal(err)
	}
	if err := w.extractor().Extract(t.Context(), gone); err != nil || w.row(gone).Status != projections.Deleted {
		t.Errorf("extract a deleted traceset: %v, status %s, want deleted", err, w.row(gone).Status)
	}
}

// TestExtractInterrupted: an extraction that is interrupted in the middle of an
// archive does not change the traceset, and the next extraction is complete.
func TestExtractInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.put(uploads{"all.tar": packed(t, entries(ranks(500))...)}, "")
	folder := traces.Folder(w.row(id).LibraryHash)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.extractor().Extract(ctx, id) }()
	for begun := false; !begun; {
		for _, err := range w.Objects.List(t.Context(), folder) {
			if err != nil {
				t.Fatal(err)
			}
			begun = true
			break
		}
	}
	cancel()
	if err := testwait.Receive(t, ended, "the extraction to end"); err == nil || w.row(id).Status != commands.TracesetProcessing {
		t.Fatalf("interrupted: %v, status %s, want an error and processing", err, w.row(id).Status)
	}
	if err := w.extractor().Extract(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if row := w.row(id); row.Status != commands.TracesetReady || row.RankCount != 500 || row.FileCount != 500 {
		t.Errorf("%s %s, %d ranks, %d files, want 500 each", row.Status, row.Failure, row.RankCount, row.FileCount)
	}
}
