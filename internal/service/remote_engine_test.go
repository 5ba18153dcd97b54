package service_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/internal/servicetest"
)

// TestRemoteEngine runs simulations at "netsim engine serve" in another process. They
// have the same results as with the built-in engine, and can be repeated from their
// receipts.
func TestRemoteEngine(t *testing.T) {
	t.Parallel()
	binary := buildNetsim(t)
	p := servicetest.Start(t, func(c *settings.Config) {
		c.EngineURLs, c.EngineToken = []string{serveEngine(t, binary)}, "shared"
		c.EnginePoll, c.Workers = 20*time.Millisecond, 1
	})
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")

	t.Run("simple", func(t *testing.T) {
		t.Parallel()
		j := journey{t: t, c: p.User(t, account)}
		here := j.completed(text(t, j.c.Post("/api/v1/simple/simulations", simpleSubmission(8)).Want(202), "simulationId"))
		j.configuration = events.DerivedID(events.ConfigurationPrefix, here)
		j.useRemoteEngine()
		there := j.completed(text(t, j.c.Post("/api/v1/simulations",
			object{"configurationId": j.configuration, "name": "small", "duration": "1h"}).Want(201), "id"))
		j.compareResults(here, there)
		j.reproduce(binary, there)
	})
	t.Run("replayed", func(t *testing.T) {
		t.Parallel()
		j := journey{t: t, c: p.User(t, account)}
		j.ringApart(p.Service(t, account))
		here := j.completed(text(t, j.start().Want(201), "id"))
		j.useRemoteEngine()
		there := j.completed(text(t, j.start().Want(201), "id"))
		j.compareResults(here, there)
		j.reproduce(binary, there)
	})
	t.Run("terminated", func(t *testing.T) {
		t.Parallel()
		j := journey{t: t, c: p.User(t, account)}
		id := j.allToAlls("long", 256, 1000, 1<<40)
		j.configuration = events.DerivedID(events.ConfigurationPrefix, id)
		j.useRemoteEngine()
		there := text(t, j.c.Post("/api/v1/simulations",
			object{"configurationId": j.configuration, "name": "long", "duration": "24h"}).Want(201), "id")
		for _, sim := range []string{id, there} { // both run at the same time, although there is one worker
			j.c.Eventually("/api/v1/simulations/"+sim, hasStatus("running"))
		}
		for _, sim := range []string{id, there} {
			j.c.Post("/api/v1/simulations/"+sim+"/terminate", nil).Want(200)
		}
		j.c.Eventually("/api/v1/simulations/"+there+"/results", func(r servicetest.Reply) bool { return r.Status == 200 })
		j.reproduce(binary, there)
	})
}

// serveEngine starts a remote engine and returns its base URL.
func serveEngine(t *testing.T, binary string) string {
	t.Helper()
	cmd := exec.Command(binary, "engine", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	cmd.Env = append(os.Environ(), "NETSIM_ENGINE_TOKEN=shared")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // the process may have ended
		cmd.Wait()                          //nolint:errcheck // other tests check how it ends
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	i := strings.Index(line, "http://")
	if err != nil || i < 0 {
		t.Fatalf("the engine printed %q, %v; want its URL", line, err)
	}
	return strings.TrimSpace(line[i:])
}

// useRemoteEngine changes the configuration so that it runs at a remote engine.
func (j *journey) useRemoteEngine() {
	j.t.Helper()
	j.c.Patch(j.at("/parameters"), object{"EngineParameters": object{"Engine": object{"value": "remote", "type": "string"}}}).Want(200)
	j.c.Post(j.at("/validate"), nil).Want(200)
}

// results downloads the result files of a simulation. It omits the receipt and the log,
// which name the run, and the column of wall-clock times, which depend on its start.
func (j *journey) results(simulation string) map[string]string {
	j.t.Helper()
	var listed struct {
		Files []struct{ Name, DownloadURL string }
	}
	j.c.Get("/api/v1/simulations/" + simulation + "/results?limit=100").Want(200).Into(&listed)
	files := map[string]string{}
	for _, f := range listed.Files {
		if f.Name == "receipt.json" || f.Name == "run.log" {
			continue
		}
		content := j.fetch(f.DownloadURL)
		if strings.HasSuffix(f.Name, ".csv") {
			content = j.timeless(content)
		}
		files[f.Name] = string(content)
	}
	return files
}

func (j *journey) timeless(content []byte) []byte {
	j.t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		j.t.Fatal(err)
	}
	i := slices.Index(rows[0], "time_utc")
	if i < 0 {
		return content
	}
	var out strings.Builder
	for _, row := range rows {
		out.WriteString(strings.Join(slices.Delete(row, i, i+1), ",") + "\n")
	}
	return []byte(out.String())
}

// compareResults compares the results of two simulations.
func (j *journey) compareResults(here, there string) {
	j.t.Helper()
	a, b := j.results(here), j.results(there)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))); diff != "" || len(a) < 8 {
		j.t.Errorf("%d files, want at least 8 (-built-in +remote):\n%s", len(a), diff)
	}
	for name := range a {
		if a[name] != b[name] {
			j.t.Errorf("%s (-built-in +remote):\n%s", name, cmp.Diff(a[name], b[name]))
		}
	}
	for _, id := range []string{here, there} {
		var log struct {
			Logs []struct{ Component, Message string }
		}
		j.c.Get("/api/v1/simulations/" + id + "/logs?limit=100&level=info").Want(200).Into(&log)
		if !strings.Contains(fmt.Sprint(log.Logs), "every rank finished") {
			j.t.Errorf("the log does not contain the end of the run: %v", log.Logs)
		}
	}
}

// reproduce repeats a simulation offline from its receipt, and checks the result.
func (j *journey) reproduce(binary, simulation string) {
	j.t.Helper()
	dir := j.reproducible(simulation)
	text, err := os.ReadFile(filepath.Join(dir, "receipt.json"))
	if err != nil {
		j.t.Fatal(err)
	}
	var receipt struct{ Engine, SimulationID string }
	if err := json.Unmarshal(text, &receipt); err != nil || receipt.Engine != "netsim" || receipt.SimulationID != simulation {
		j.t.Errorf("got receipt %+v, %v; want one of engine netsim for %s", receipt, err, simulation)
	}
	want := fmt.Sprintf("reproduced: %d files equal\n", receiptFiles(j.t, dir))
	if said, err := offline(j.t, binary, dir); err != nil || said != want {
		j.t.Errorf("engine run: %v: %q, want %q", err, said, want)
	}
}
