package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"netsim/cmd/client"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// world is what the commands of TestEveryCommandPrintsJSON are about.
type world struct {
	t       *testing.T
	m       *machine
	dir     string
	service *servicetest.Program
	token   string
	ids     map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	token := teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "robot", Account: account, Roles: []string{"billing"}})
	p.Grant(t, account, "1000")
	w := &world{t: t, dir: t.TempDir(), service: p, token: token, ids: map[string]string{}}
	w.m = newMachine(t, "NETSIM_URL", p.URL, "NETSIM_TOKEN", token)
	w.write("small.json", small)
	for _, name := range []string{"first", "second"} {
		w.ids[name] = strings.TrimSpace(w.m.wants("sim", "submit", w.path("small.json"), "--name", name))
		w.m.wants("sim", "watch", w.ids[name])
	}
	return w
}

// small is a simulation that takes milliseconds.
const small = `{"workload": {"ranks": 8, "phases": [{"operationType": "allReduce", "dataSize": 1048576}]}}`

// radix is a study of two points.
const radix = `{"name": "radix", "base": {"simple": ` + small + `}, "axes": [{"field": "topologyConstraints.switchRadix", "values": ["64x800G", "128x400G"]}]}`

// study runs a study.
func (w *world) study() {
	w.t.Helper()
	w.write("study.json", radix)
	w.ids["study"] = strings.TrimSpace(w.m.wants("study", "start", w.path("study.json")))
	w.m.wants("study", "watch", w.ids["study"])
}

// configured makes a configuration of a template; an editor gives it a seed.
func (w *world) configured() {
	w.t.Helper()
	api := w.service.Bearer(w.t, w.token)
	for _, item := range api.Get("/api/v1/templates").Want(200).Object()["templates"].([]any) {
		w.ids["template"] = item.(map[string]any)["id"].(string)
	}
	w.ids["configuration"] = api.Post("/api/v1/templates/"+w.ids["template"]+"/clone", map[string]any{"name": "mine"}).Want(201).Text("id")
	w.m.Edit = func(_ context.Context, path string) error { return w.seed(path, 7) }
}

// seed is an editor that gives a configuration a seed, and no other parameter.
func (w *world) seed(path string, seed int) error {
	document := map[string]any{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		return err
	}
	document["globalParameters"] = seeded(seed)
	text, err = json.Marshal(document)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func seeded(seed int) any {
	return map[string]any{"SimulationParameters": map[string]any{"RandomSeed": map[string]any{"value": seed, "type": "uint"}}}
}

// replace is an editor that replaces a text once.
func (w *world) replace(path, old, text string) error {
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Replace(string(before), old, text, 1)), 0o600)
}

// ring returns the files of the traces of eight ranks, and more arguments.
func ring(more ...string) (files []string) {
	for rank := range 8 {
		files = append(files, fmt.Sprintf("../../simulator/chakra/testdata/ring/custom_allreduce.%d.et.gz", rank))
	}
	return append(files, more...)
}

// billed waits until the costs of the first simulation are booked and signed.
func (w *world) billed() {
	w.t.Helper()
	testworld.Await(w.t, func() bool {
		out, code, _ := w.m.run("bill", "explain", w.ids["first"], "--jq", ".[].costs | length")
		return code == 0 && out != "0\n"
	})
	w.service.Checkpoint(w.t, "")
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// written is write, and returns the path.
func (w *world) written(name, text string) string {
	w.t.Helper()
	w.write(name, text)
	return w.path(name)
}

// commandLines has, for each command, a command line and its exit code. In order.
func (w *world) commandLines() [][]string {
	return [][]string{
		{"login", "0", "--token", "--profile", "mine"},
		{"profile list", "0"},
		{"profile use", "0", "mine"},
		{"profile show", "0"},
		{"logout", "0"},
		{"sim submit", "0", w.path("small.json"), "--watch"},
		{"sim watch", "0", w.ids["first"]},
		{"sim list", "0"},
		{"sim results", "0", w.ids["first"], "--get", "summary.json", "--to", w.dir},
		{"sim compare", "0", w.ids["first"], w.ids["second"]},
		{"sim explain", "0", w.ids["first"]},
		{"sim stop", "4", w.ids["first"]},
		{"study start", "0", w.path("study.json"), "--watch"},
		{"study watch", "0", w.ids["study"]},
		{"study list", "0"},
		{"study table", "0", w.ids["study"]},
		{"study pareto", "0", w.ids["study"]},
		{"study stop", "4", w.ids["study"]},
		{"config list", "0"},
		{"config show", "0", w.ids["configuration"]},
		{"config clone", "0", w.ids["configuration"], "--name", "a copy"},
		{"config validate", "0", w.ids["configuration"]},
		{"config edit", "0", w.ids["configuration"]},
		{"config diff", "1", w.ids["configuration"]},
		append([]string{"trace upload", "0"}, ring("--name", "ring", "--watch")...),
		{"feed", "0", "--since", "1h", "--count", "3"},
		{"webhooks listen", "0", "--since", "1h", "--count", "1", "--forward-to", "http://127.0.0.1:1/"},
		{"bill show", "0"},
		{"bill explain", "0", w.ids["first"]},
		{"bill verify", "0"},
	}
}

// TestEveryCommandPrintsJSON runs every command at a service: with --json, standard output is
// JSON and nothing else, and without it, the same command says something to people.
func TestEveryCommandPrintsJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.study()
	w.billed()
	w.configured()
	parser, err := kong.New(&client.Commands{}, kong.Name("netsim"))
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, leaf := range parser.Model.Leaves(true) {
		missing[strings.TrimPrefix(strings.SplitN(leaf.FullPath(), " <", 2)[0], "netsim ")] = true
	}
	for _, row := range w.commandLines() {
		if delete(missing, row[0]); row[0] == "login" {
			w.m.In = strings.NewReader(w.token + "\n")
		}
		args := append(append(strings.Fields(row[0]), row[2:]...), "--json")
		out, code, said := w.m.run(args...)
		if want := int(row[1][0] - '0'); code != want {
			t.Errorf("netsim %s: exit %d: %s; want %d", strings.Join(args, " "), code, said, want)
		}
		if n := len(values(t, out)); (n > 0) != (code < 2) {
			t.Errorf("netsim %s: exit %d with %d values\n%s", strings.Join(args, " "), code, n, out)
		}
	}
	for name := range missing {
		t.Errorf("netsim %s has no command line in this test", name)
	}
}
