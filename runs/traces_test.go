package runs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"netsim/commands"
	"netsim/content/library"
	"netsim/content/traces"
	"netsim/events"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/runs"
	"netsim/runs/execution"
	"netsim/simulator/catalogue"
	"netsim/simulator/document"
	"netsim/simulator/mapping"
	"netsim/simulator/results"
)

// replaying describes a simulation that replays traces.
type replaying struct {
	files   map[string]string // of the traceset, by name
	groups  string            // comm_groups.json
	folder  bool              // the files are in the library's folder
	servers int
	set     map[string]any // parameters of the application
	mapping string         // the mapping file's text
	lost    string         // name of the file whose object is missing
	limits  runs.Limits
}

// run creates the inputs, and requests, checks and runs the simulation to its end.
func (r replaying) run(t *testing.T, w *testworld.World) projections.Simulation {
	t.Helper()
	traceset, placement := r.traceset(t, w), r.mappingFile(t, w)
	id := events.NewID(events.SimulationPrefix)
	testworld.Do(t, w, id, commands.RequestSimulation{Requested: events.SimulationRequested{
		Origin: commands.OriginStart, AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace,
		ConfigurationID: r.configuration(t, w), ConfigurationVersion: 1, TracesetID: traceset, MappingFileID: placement,
		Name: "test", DurationNs: int64(time.Hour), Duration: "1h",
	}})
	sim := w.Simulation(t, id)
	stage := runs.Stage{DB: w.DB, Objects: w.Objects}
	hash, reason, err := stage.Check(t.Context(), &sim)
	if err != nil {
		t.Fatal(err)
	}
	if reason != "" {
		testworld.Do(t, w, id, commands.InvalidateSimulation{Reason: reason})
		return w.Simulation(t, id)
	}
	testworld.Do(t, w, id, commands.ValidateSimulation{Validated: events.SimulationValidated{DocumentHash: hash}})
	worker := runner(w)
	worker.Limits = r.limits
	if err := worker.Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return w.Simulation(t, id)
}

func put(t *testing.T, w *testworld.World, key, content string) {
	t.Helper()
	if _, err := w.Objects.Put(t.Context(), key, "application/octet-stream", strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}

func sha(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (r replaying) traceset(t *testing.T, w *testworld.World) string {
	t.Helper()
	created := events.TracesetCreated{
		AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace, Name: "traces", Format: "chakra_et_v1",
		TTLDays: 7, Status: commands.TracesetProcessing,
	}
	contents := map[string]string{}
	for name, content := range r.files {
		contents[name] = content
	}
	if r.groups != "" {
		contents["comm_groups.json"] = r.groups
	}
	for name, content := range contents {
		f := events.TracesetFile{Name: name, ContentType: "application/octet-stream", Hash: sha(content), Size: int64(len(content)), Role: events.RolePrimary}
		if name == "comm_groups.json" {
			f.Role = events.RoleSupporting
		}
		created.Files = append(created.Files, f)
	}
	created.LibraryHash = library.Hash(created.Files)
	extracted := events.TracesetMetadataExtracted{Format: created.Format, RankCount: int64(len(r.files))}
	for i := range created.Files {
		f := &created.Files[i]
		f.ObjectKey = library.Key(created.LibraryHash, f.Hash)
		if r.folder {
			f.ObjectKey = traces.Folder(created.LibraryHash) + f.Name
		}
		if f.Name != r.lost {
			put(t, w, f.ObjectKey, contents[f.Name])
		}
	}
	if r.folder {
		extracted.Layout = events.LayoutFolder
		created.Files = []events.TracesetFile{{Name: "traces.tar", Hash: sha("tar"), Role: events.RolePrimary, ObjectKey: "nowhere"}}
	}
	id := events.NewID(events.TracesetPrefix)
	testworld.Do(t, w, id, commands.CreateTraceset{Created: created})
	testworld.Do(t, w, id, commands.RecordExtraction{ID: id, Extracted: extracted})
	return id
}

func (r replaying) mappingFile(t *testing.T, w *testworld.World) string {
	t.Helper()
	if r.mapping == "" {
		return ""
	}
	id := events.NewID(events.MappingFilePrefix)
	created := events.MappingFileCreated{
		AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace, Name: "placement.txt", Hash: "crc64nvme:AAAAAAAAAAA",
		ContentHash: sha(r.mapping), SizeBytes: int64(len(r.mapping)), RankCount: int64(len(r.files)), ObjectKey: "mappingfiles/" + id,
	}
	if r.lost != mapping.Name {
		put(t, w, created.ObjectKey, r.mapping)
	}
	testworld.Do(t, w, id, commands.CreateMappingFile{Created: created})
	return id
}

// configuration creates a configuration with the servers below one switch.
func (r replaying) configuration(t *testing.T, w *testworld.World) string {
	t.Helper()
	find := func(model string) catalogue.Entry {
		e, known := catalogue.Find(model)
		if !known {
			t.Fatalf("no model %s", model)
		}
		return e
	}
	d := document.Document{GlobalParameters: document.Params{}, Topology: document.Topology{
		Type: "clos", TopologyTiers: 1, Components: []document.Ref{{Type: document.TypeRack, Name: "rack", Count: 1}},
	}}
	catalogue.Fill(d.GlobalParameters, catalogue.Globals())
	app := find("chakra-workload-v1").Application("training", "1.0.0")
	for name, value := range r.set {
		app.TypedParameters["ChakraConfiguration"].Branch[name].Leaf.Value = value
	}
	d.Applications = []document.Application{app}
	server, rack := find("gpu-server-v1").Component("server", "1.0.0"), find("leaf-rack-v1").Container("rack", "1.0.0")
	server.Components = []document.Ref{{Type: document.TypeNIC, Name: "nic", Count: 1}, {Type: document.TypeGPU, Name: "gpu", Count: 1}}
	rack.Components = []document.Ref{{Type: document.TypeSwitch, Name: "leaf", Count: 1}, {Type: document.TypeServer, Name: "server", Count: r.servers}}
	gpu := find("gpu-v1").Component("gpu", "1.0.0")
	gpu.TypedParameters["ComputeScale"].Leaf.Value = 2.0
	d.Components = []document.Component{find("clos-switch-v1").Component("leaf", "1.0.0"), server, find("roce-nic-v1").Component("nic", "1.0.0"), gpu}
	d.Containers = []document.Container{rack}
	text, err := document.Canonical(d)
	if err != nil {
		t.Fatal(err)
	}
	id := events.NewID(events.ConfigurationPrefix)
	testworld.Do(t, w, id, commands.CreateConfiguration{Created: events.ConfigurationCreated{
		AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace, Name: "replay", Document: text, Status: commands.Validated,
	}})
	return id
}

// ring returns the test traces of package chakra: eight ranks, each with 14 sends,
// 14 receives and 7 computations of 7 us.
func ring(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for rank := range 8 {
		name := fmt.Sprintf("custom_allreduce.%d.et.gz", rank)
		content, err := os.ReadFile("../simulator/chakra/testdata/ring/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
	return files
}

// pair returns the traces of two ranks with a message and a collective of a named
// group.
func pair() map[string]string {
	collect := `{"id":"1","type":"COMM_COLL_NODE","attr":[{"name":"comm_type","int64Val":"0"},{"name":"comm_size","int64Val":"1000000"},{"name":"pg_name","stringVal":"tensor, \"1\""}]}`
	message := func(kind, peer string, rank int) string {
		return fmt.Sprintf(`{"id":"2","type":%q,"dataDeps":["1"],"attr":[{"name":%q,"int64Val":"%d"},{"name":"comm_tag","int64Val":"42"},{"name":"comm_size","int64Val":"5000"}]}`, kind, peer, 1-rank)
	}
	return map[string]string{
		"rank_0.chakra.json": `{"version":"0.0.4"}` + collect + message("COMM_SEND_NODE", "comm_dst", 0),
		"rank_1.chakra.json": `{"version":"0.0.4"}` + collect + message("COMM_RECV_NODE", "comm_src", 1),
	}
}

// TestReplays: traces are replayed whether they are stored as files of the library or
// in its folder.
func TestReplays(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	for _, folder := range []bool{false, true} {
		sim := replaying{files: ring(t), servers: 9, folder: folder}.run(t, w)
		if sim.Status != commands.Completed || sim.Ranks != 8 || sim.FinishedRanks != 8 {
			t.Fatalf("the simulation is %s with %d of %d ranks finished (%s), want completed", sim.Status, sim.FinishedRanks, sim.Ranks, sim.FailureReason)
		}
		files := resultFiles(t, w, sim)
		// The accelerators' ComputeScale is 2.
		if n := strings.Count(files["test-rank-completion-0.csv"], ",1835008,1835008,14,14,14,7,98.000000,1\n"); n != 8 {
			t.Errorf("%d ranks did all their work, want 8:\n%s", n, files["test-rank-completion-0.csv"])
		}
		if n := strings.Count(files["test-perf-0.csv"], "TransferFCT.send.GroupSize2.CommSize131072Bytes,-1,"); n != 8*14 {
			t.Errorf("got %d messages, want 112", n)
		}
	}
}

// TestReplaysGroups: the results have the group names of the traces, and the receipt
// has the mapping file. Ranks in a scale-up group communicate faster than over the
// network.
func TestReplaysGroups(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	plain := replaying{files: pair(), groups: `{"tensor, \"1\"":[0,1]}`, servers: 4}
	over := plain.run(t, w)
	plain.mapping = "0, 3, 7, 0\n1, 1, 7, 0\n@\n7, 3600, 250, 5.5\n"
	plain.set = map[string]any{"ScaleUpStatsEnabled": true}
	inside := plain.run(t, w)
	plain.mapping = "0, 3\n1, 1\n"
	moved := plain.run(t, w)
	if inside.Status != commands.Completed || moved.Status != commands.Completed || over.SimulatedTimeNs != moved.SimulatedTimeNs || inside.SimulatedTimeNs*5 > over.SimulatedTimeNs {
		t.Fatalf("the simulations are %s in %d ns, %s in %d and %s in %d (%s)", over.Status, over.SimulatedTimeNs, inside.Status, inside.SimulatedTimeNs, moved.Status, moved.SimulatedTimeNs, inside.FailureReason)
	}
	files := resultFiles(t, w, inside)
	if !strings.Contains(files["test-collective-stats-0.csv"], "\n0,allReduce,1000000,\"tensor, \"\"1\"\"\",2,0.000000,") {
		t.Errorf("got the collectives:\n%s", files["test-collective-stats-0.csv"])
	}
	if !strings.Contains(files["test-perf-0.csv"], ",0,42,2,5000,rank-0,rank-1\n") {
		t.Errorf("got the transfers:\n%s", files["test-perf-0.csv"])
	}
	if want := results.Columns("scale-up-stats"); files["test-scale-up-stats-0.csv"] != strings.Join(want, ",")+"\n0,7,0,3600.000000000,3,2,1005000,1000000\n1,7,0,3600.000000000,2,3,1000000,1005000\n" {
		t.Errorf("got the scale-up ports:\n%s", files["test-scale-up-stats-0.csv"])
	}
	var receipt execution.Receipt
	if err := json.Unmarshal([]byte(files["receipt.json"]), &receipt); err != nil {
		t.Fatal(err)
	}
	m := receipt.MappingFile
	if m == nil || m.Name != "chakra-mapping.txt" || m.Hash != sha("0, 3, 7, 0\n1, 1, 7, 0\n@\n7, 3600, 250, 5.5\n") || len(receipt.Traceset.Files) != 3 {
		t.Errorf("got the receipt %s", files["receipt.json"])
	}
	for host, name := range map[int]string{1: "nic-1", 3: "nic-3"} {
		if !strings.Contains(resultFiles(t, w, moved)["test-nd-stats-0.csv"], name) {
			t.Errorf("the NIC of server %d has no row", host)
		}
	}
}

// TestReplaysThatCannot: if traces cannot be replayed, the reason says why.
func TestReplaysThatCannot(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	unreceived := pair()
	unreceived["rank_1.chakra.json"] = strings.ReplaceAll(unreceived["rank_1.chakra.json"], `"42"`, `"43"`)
	bare := pair()
	bare["rank_0.chakra.json"] = strings.ReplaceAll(bare["rank_0.chakra.json"], `"1000000"`, `"2000000"`)
	cut := ring(t)
	cut["custom_allreduce.3.et.gz"] = cut["custom_allreduce.3.et.gz"][:500]
	for _, c := range []struct {
		when   string
		r      replaying
		status string
		want   string
	}{
		{"a message without a receive", replaying{files: unreceived, servers: 2}, commands.Failed,
			"inputs could not be staged: traceset ts_* rank 0, node 2: the message to rank 1 with tag 42 is not received"},
		{"a warning that aborts", replaying{files: bare, servers: 2, groups: `{"tensor, \"1\"":[0,1]}`, set: map[string]any{"AbortOnChakraWarning": true}}, commands.Failed,
			"inputs could not be staged: traceset ts_* has 1000000 bytes, of others 2000000; the most count; AbortOnChakraWarning is on"},
		{"a file that ends in the middle", replaying{files: cut, servers: 8}, commands.Failed,
			"inputs could not be staged: file custom_allreduce.3.et.gz of the traceset: *the file ends in the middle"},
		{"more traces than a run may hold", replaying{files: pair(), servers: 2, limits: runs.Limits{TraceBytes: 100}}, commands.Failed,
			"inputs could not be staged: *the traces take more than the 0 MiB that replaying may hold"},
		{"too few servers", replaying{files: pair(), servers: 1}, "invalid", "*2 ranks exceed the 1 servers of logical group 0"},
		{"a lost file", replaying{files: pair(), groups: `{"tensor, \"1\"":[0,1],"lost":[0]}`, servers: 2, lost: "rank_1.chakra.json"}, "invalid", "file rank_1.chakra.json of the traceset is not stored"},
		{"a lost file of a folder", replaying{files: pair(), servers: 2, folder: true, lost: "rank_1.chakra.json"}, "invalid", "traceset ts_* has 1 of 2 rank files stored"},
		{"a missing server", replaying{files: pair(), servers: 2, mapping: "0, 0\n1, 5\n"}, "invalid", "mapping file placement.txt (*): rank 1 is on server 5, and there are 2 servers"},
		{"a mapping file of other ranks", replaying{files: pair(), servers: 2, mapping: "0, 0\n"}, "invalid", "mapping file placement.txt (* places 1 ranks, and traceset ts_* has 2"},
		{"a lost mapping file", replaying{files: pair(), servers: 2, mapping: "0, 0\n1, 1\n", lost: mapping.Name}, "invalid", "mapping file placement.txt (*) could not be delivered"},
	} {
		sim := c.r.run(t, w)
		if !matches(c.want, sim.FailureReason) || sim.Status != c.status {
			t.Errorf("%s: simulation is %s: %s\nwant %s: %s", c.when, sim.Status, sim.FailureReason, c.status, c.want)
		}
	}
}

// matches reports whether a text matches a pattern, in which a star stands for any
// text.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		at := strings.Index(text, part)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return text == "" || strings.HasSuffix(pattern, "*")
}

// TestDeadlock: if ranks wait for each other, the run fails with partial results. The
// reason says which rank waits for what.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	files := map[string]string{}
	for rank := range 2 {
		files[fmt.Sprintf("rank_%d.chakra.json", rank)] = `{"version":"0.0.4"}` + fmt.Sprintf(
			`{"id":"5","type":"COMM_RECV_NODE","attr":[{"name":"comm_src","int64Val":"%[1]d"},{"name":"comm_size","int64Val":"9"}]}`+
				`{"id":"6","type":"COMM_SEND_NODE","dataDeps":["5"],"attr":[{"name":"comm_dst","int64Val":"%[1]d"},{"name":"comm_size","int64Val":"9"}]}`, 1-rank)
	}
	sim := replaying{files: files, servers: 2}.run(t, w)
	want := "deadlock: 2 of 2 ranks wait and no event is left; rank 0 waits in node 5 for the message of rank 1 with tag 0 (its node 6); the last finished collective is none"
	if sim.Status != commands.Failed || sim.FailureReason != want {
		t.Errorf("the simulation is %s (%s), want failed because of %q", sim.Status, sim.FailureReason, want)
	}
	resultFiles(t, w, sim)
}

// TestStraggler: of eight ranks that compute before an all-reduce, rank 3 computes three times
// longer. The results name it, say what that costs, and are the same when the run is repeated
// from its receipt.
func TestStraggler(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	files := map[string]string{}
	for rank := range 8 {
		micros := 1000
		if rank == 3 {
			micros = 3000
		}
		files[fmt.Sprintf("rank_%d.chakra.json", rank)] = `{"version":"0.0.4"}` + fmt.Sprintf(
			`{"id":"17","type":"COMP_NODE","durationMicros":"%d"}`+
				`{"id":"18","type":"COMM_COLL_NODE","dataDeps":["17"],"attr":[{"name":"comm_type","int64Val":"0"},{"name":"comm_size","int64Val":"1000000"}]}`, micros)
	}
	sim := replaying{files: files, servers: 8}.run(t, w)
	if sim.Status != commands.Completed {
		t.Fatalf("the simulation is %s (%s), want completed", sim.Status, sim.FailureReason)
	}
	got := resultFiles(t, w, sim)
	var summary struct {
		Stragglers struct {
			Ranks []struct{ Rank, MedianRatio float64 }
		}
		CriticalPath struct {
			Ranks    []struct{ Rank, ComputationUs float64 }
			Sentence string
		}
	}
	if err := json.Unmarshal([]byte(got["summary.json"]), &summary); err != nil {
		t.Fatal(err)
	}
	// The accelerators' ComputeScale is 2.
	if s := summary.Stragglers.Ranks; len(s) != 1 || s[0].Rank != 3 || s[0].MedianRatio != 3 {
		t.Errorf("got the stragglers %v, want rank 3 with three times the median", s)
	}
	if r := summary.CriticalPath.Ranks; len(r) != 1 || r[0].Rank != 3 || r[0].ComputationUs != 6000 {
		t.Errorf("ranks %v compute on the critical path, want rank 3 for 6 ms", r)
	}
	if !strings.Contains(summary.CriticalPath.Sentence, "longest took node 17, a computation of rank 3, 6000.0 us.") {
		t.Errorf("got the sentence %q, want the computation of rank 3", summary.CriticalPath.Sentence)
	}
	if rows := strings.Split(got["test-critical-path-0.csv"], "\n"); !strings.HasPrefix(rows[1], "0,computation,3,-1,-1,,17,0,1,0.000000,6000.000000,6000.000000,0.000000,0.000000,0.000000,") || len(rows) != 1+1+14+1 {
		t.Errorf("got the path\n%s\nwant the computation and 14 transfers", got["test-critical-path-0.csv"])
	}
}
