package execution_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netsim/runs/execution"
	"netsim/simulator/catalogue"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/engine"
	"netsim/simulator/mapping"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

// localOrder is an order with its files in a directory.
type localOrder struct {
	order execution.Order
	dir   string
}

func (p *localOrder) put(t *testing.T, name, role, content string) execution.File {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return execution.File{Name: name, Role: role, Hash: execution.Hash(content), Size: int64(len(content))}
}

// newLocalOrder returns an order for a document, without files.
func newLocalOrder(t *testing.T, d *document.Document) *localOrder {
	t.Helper()
	text, err := document.Canonical(d)
	if err != nil {
		t.Fatal(err)
	}
	return &localOrder{dir: t.TempDir(), order: execution.Order{
		SimulationID: "sim_1", Name: "a*run", StartedAt: time.Date(2026, 11, 21, 12, 0, 0, 123_456_000, time.UTC),
		ConfigurationID: "cfg_1", ConfigurationVersion: 1, Document: text, DocumentHash: execution.Hash(text),
		DurationNs: int64(time.Hour), Seed: 1,
	}}
}

// simple returns the order of a simple submission; each phase is an allToAll.
func simple(t *testing.T, ranks, phases int) *localOrder {
	t.Helper()
	return exchange(t, ranks, phases, 1<<16)
}

// exchange returns the order of a simple submission; each phase is an allToAll with
// this data size.
func exchange(t *testing.T, ranks, phases int, bytes int64) *localOrder {
	t.Helper()
	w := collective.Workload{Ranks: ranks}
	for range phases {
		w.Phases = append(w.Phases, collective.Phase{OperationType: collective.AllToAll, DataSize: bytes})
	}
	s, _, err := presets.NewSimple(&topology.Constraints{}, &w, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Document()
	if err != nil {
		t.Fatal(err)
	}
	content, err := presets.WorkloadContent(s.Groups)
	if err != nil {
		t.Fatal(err)
	}
	p := newLocalOrder(t, d)
	p.order.Traceset = &execution.Traceset{ID: "ts_1", Format: "simple_v1", Layout: "cas", Files: []execution.File{
		p.put(t, presets.WorkloadFile, "primary", content),
	}}
	return p
}

// traceOrder returns the order of a replay on nine servers, without a traceset.
func traceOrder(t *testing.T) *localOrder {
	t.Helper()
	find := func(model string) catalogue.Entry {
		e, known := catalogue.Find(model)
		if !known {
			t.Fatalf("no model %s", model)
		}
		return e
	}
	d := &document.Document{GlobalParameters: document.Params{}, Topology: document.Topology{
		Type: "clos", TopologyTiers: 1, Components: []document.Ref{{Type: document.TypeRack, Name: "rack", Count: 1}},
	}}
	catalogue.Fill(d.GlobalParameters, catalogue.Globals())
	d.Applications = []document.Application{find("chakra-workload-v1").Application("training", "1.0.0")}
	server, rack := find("gpu-server-v1").Component("server", "1.0.0"), find("leaf-rack-v1").Container("rack", "1.0.0")
	server.Components = []document.Ref{{Type: document.TypeNIC, Name: "nic", Count: 1}}
	rack.Components = []document.Ref{{Type: document.TypeSwitch, Name: "leaf", Count: 1}, {Type: document.TypeServer, Name: "server", Count: 9}}
	d.Components = []document.Component{find("clos-switch-v1").Component("leaf", "1.0.0"), server, find("roce-nic-v1").Component("nic", "1.0.0")}
	d.Containers = []document.Container{rack}
	return newLocalOrder(t, d)
}

// deadlockOrder returns the order of two ranks that wait for each other.
func deadlockOrder(t *testing.T) *localOrder {
	t.Helper()
	p := traceOrder(t)
	p.order.Traceset = &execution.Traceset{ID: "ts_3", Format: "chakra_json_v1", Layout: "cas", RankCount: 2}
	for rank := range 2 {
		content := `{"version":"0.0.4"}` + fmt.Sprintf(
			`{"id":"5","type":"COMM_RECV_NODE","attr":[{"name":"comm_src","int64Val":"%[1]d"},{"name":"comm_size","int64Val":"9"}]}`+
				`{"id":"6","type":"COMM_SEND_NODE","dataDeps":["5"],"attr":[{"name":"comm_dst","int64Val":"%[1]d"},{"name":"comm_size","int64Val":"9"}]}`, 1-rank)
		p.order.Traceset.Files = append(p.order.Traceset.Files, p.put(t, fmt.Sprintf("rank_%d.chakra.json", rank), "primary", content))
	}
	return p
}

// replayOrder returns the order of the recorded ring of eight ranks on nine servers. Its
// traces are in an archive, and its mapping file does not use the first server.
func replayOrder(t *testing.T) *localOrder {
	t.Helper()
	p := traceOrder(t)
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	var places strings.Builder
	for rank := range 8 {
		name := fmt.Sprintf("custom_allreduce.%d.et.gz", rank)
		content, err := os.ReadFile("../../simulator/chakra/testdata/ring/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Name: "traces/" + name, Mode: 0o600, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&places, "%d, %d\n", rank, rank+1)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p.order.Traceset = &execution.Traceset{ID: "ts_2", Format: "chakra_et_v1", Layout: "prefix", RankCount: 8, Files: []execution.File{
		p.put(t, "ring.tar", "primary", packed.String()), p.put(t, "notes.json", "supporting", "{}"),
	}}
	p.order.MappingFile = &execution.MappingFile{ID: "map_1", Title: "apart.txt", File: p.put(t, mapping.Name, "", places.String())}
	return p
}

// run executes the order as an engine does, and returns the receipt after a round
// trip through JSON. stop is called at every report of progress.
func (p *localOrder) run(t *testing.T, c execution.Config, reason string, stop func(context.CancelFunc)) execution.Receipt {
	t.Helper()
	files := &execution.Folder{Dir: root(t, p.dir), Unpack: root(t, t.TempDir())}
	in, err := execution.Prepare(t.Context(), &p.order, files)
	if err == nil {
		err = in.Read(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	var out execution.Outcome
	c.Create = out.Create
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if stop != nil {
		c.Progress = func() { stop(cancel) }
	}
	r, err := execution.Start(in, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(ctx); err != nil {
		reason = r.Failure(err.Error())
	}
	end, err := r.Close(reason)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.order.Inputs() {
		if p.order.Traceset != nil && i < len(p.order.Traceset.Files) {
			p.order.Traceset.Files[i].URL = "https://store.example/secret"
		}
	}
	text, err := json.MarshalIndent(execution.NewReceipt(p.order, execution.Name, engine.Version, end, out.Files), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "secret") {
		t.Errorf("the receipt has a link: %s", text)
	}
	receipt, err := execution.ReadReceipt(text)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

func root(t *testing.T, dir string) *os.Root {
	t.Helper()
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() }) //nolint:errcheck // the test is over
	return r
}

// stopAtOnce stops a run at its first report of progress.
func stopAtOnce(cancel context.CancelFunc) { cancel() }

// stopAt stops a run at its nth report of progress.
func stopAt(n int) func(context.CancelFunc) {
	return func(cancel context.CancelFunc) {
		if n--; n == 0 {
			cancel()
		}
	}
}

// TestReproduces: a run can be reproduced from its receipt, however it ended.
func TestReproduces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order  *localOrder
		config execution.Config
		reason string
		stop   func(context.CancelFunc)
		want   execution.End
	}{
		"finished":              {order: simple(t, 8, 2), want: execution.End{State: execution.Finished}},
		"replay of traces":      {order: replayOrder(t), want: execution.End{State: execution.Finished}},
		"stopped":               {order: simple(t, 64, 64), stop: stopAtOnce, want: execution.End{State: execution.Stopped}},
		"stopped after reports": {order: exchange(t, 2, 1, 1<<40), stop: stopAt(10), want: execution.End{State: execution.Stopped, Reports: 1}},
		"stopped at a time":     {order: simple(t, 64, 4), config: execution.Config{UpTo: 5_000_000}, want: execution.End{State: execution.Stopped, TimePs: 5_000_000}},
		"stopped past its end":  {order: simple(t, 8, 1), config: execution.Config{UpTo: 1e12}, want: execution.End{State: execution.Stopped}},
		"deadlocked":            {order: deadlockOrder(t), want: execution.End{State: execution.Failed, Reason: "deadlock: 2 of 2 ranks wait and no event is left; rank 0 waits in node 5 for the message of rank 1 with tag 0 (its node 6); the last finished collective is none"}},
		"failed from outside":   {order: simple(t, 64, 64), stop: stopAtOnce, reason: "it stood still", want: execution.End{State: execution.Failed, Reason: "it stood still"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receipt := c.order.run(t, c.config, c.reason, c.stop)
			if receipt.Transport != "lossless" {
				t.Errorf("the receipt has the transport %q, want that of the RoCE NICs", receipt.Transport)
			}
			if e := receipt.End; e.State != c.want.State || e.Reason != c.want.Reason || c.want.TimePs > 0 && e.TimePs != c.want.TimePs || (e.Events != nil) != (c.stop != nil) || e.Reports < c.want.Reports {
				t.Errorf("it ended %+v, want %+v", e, c.want)
			}
			out := t.TempDir()
			equal, err := execution.Reproduce(t.Context(), receipt, c.order.dir, out, false)
			if err != nil || equal != len(receipt.Results) {
				t.Fatalf("%d of %d files are equal: %v", equal, len(receipt.Results), err)
			}
			for _, f := range receipt.Results {
				content, err := os.ReadFile(filepath.Join(out, f.Name))
				if err != nil || execution.Hash(content) != f.Hash || int64(len(content)) != f.Size {
					t.Errorf("%s does not have the hash in the receipt: %v", f.Name, err)
				}
			}
		})
	}
}

// TestDoesNotReproduce: if a run cannot be reproduced, the error says why.
func TestDoesNotReproduce(t *testing.T) {
	t.Parallel()
	first := replayOrder(t)
	receipt := first.run(t, execution.Config{}, "", nil)
	for name, c := range map[string]struct {
		change func(t *testing.T, p *localOrder, r *execution.Receipt)
		want   []string
	}{
		"a changed input": {func(t *testing.T, p *localOrder, _ *execution.Receipt) {
			p.put(t, "notes.json", "", "[]")
		}, []string{"1 of 3 input files are not those of the receipt", "notes.json has the hash sha256:4f53", ", not sha256:4413"}},
		"missing inputs": {func(t *testing.T, p *localOrder, _ *execution.Receipt) {
			p.remove(t, "ring.tar")
			p.remove(t, mapping.Name)
		}, []string{"ring.tar is missing\n  chakra-mapping.txt is missing"}},
		"a changed result": {func(_ *testing.T, _ *localOrder, r *execution.Receipt) {
			r.Results[0].Hash = "sha256:00"
		}, []string{"not reproduced: ", " files are equal and 1 differ", "the receipt says ", "sha256:00"}},
		"an extra result": {func(_ *testing.T, _ *localOrder, r *execution.Receipt) {
			r.Results = append(r.Results, execution.Result{Name: "x.csv"})
		}, []string{"x.csv is not among the results"}},
		"a missing result": {func(_ *testing.T, _ *localOrder, r *execution.Receipt) {
			r.Results = r.Results[1:]
		}, []string{" is not in the receipt"}},
		"a changed document": {func(_ *testing.T, _ *localOrder, r *execution.Receipt) {
			r.Document = strings.Replace(r.Document, "training", "draining", 1)
		}, []string{"the order cannot be run: configuration cfg_1 has the hash sha256:"}},
		"a changed seed": {func(_ *testing.T, _ *localOrder, r *execution.Receipt) {
			r.Seed = 2
		}, []string{"has the seed 1, the order says 2"}},
		"a path as name": {func(_ *testing.T, _ *localOrder, r *execution.Receipt) {
			r.Traceset.Files[1].Name = "../passwords"
		}, []string{"read ../passwords: ", "escapes"}},
		"another version": {func(_ *testing.T, _ *localOrder, r *execution.Receipt) {
			r.EngineVersion = "1.0.0"
		}, []string{"the receipt is of engine netsim 1.0.0 and this is netsim " + engine.Version, "--any-engine"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &localOrder{dir: t.TempDir()}
			if err := os.CopyFS(p.dir, os.DirFS(first.dir)); err != nil {
				t.Fatal(err)
			}
			var changed execution.Receipt
			text, _ := json.Marshal(receipt)
			if err := json.Unmarshal(text, &changed); err != nil {
				t.Fatal(err)
			}
			c.change(t, p, &changed)
			_, err := execution.Reproduce(t.Context(), changed, p.dir, "", false)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got the error %v, want %q in it", err, want)
				}
			}
		})
	}
	old := receipt
	old.EngineVersion = "1.0.0"
	if equal, err := execution.Reproduce(t.Context(), old, first.dir, "", true); err != nil || equal != len(old.Results) {
		t.Errorf("any engine: %d files are equal, %v, want all", equal, err)
	}
}

func (p *localOrder) remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestNoReceipt: a file that is not a receipt is refused.
func TestNoReceipt(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", `{"files":[]}`, "[1]"} {
		if _, err := execution.ReadReceipt([]byte(text)); err == nil || !strings.Contains(err.Error(), "the receipt ") {
			t.Errorf("%q: got the error %v, want one about the receipt", text, err)
		}
	}
}
