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
	"netsim/internal/teststack"
)

// TestRemoteEngine runs simulations at "netsim engine serve" in another process. They
// have the same results as with the built-in engine, and can be repeated from their
// receipts.
func TestRemoteEngine(t *testing.T) {
	t.Parallel()
	binary := teststack.Netsim(t)
	p := servicetest.Start(t, func(c *settings.Config) {
		c.EngineURLs, c.EngineToken = []string{serveEngine(t, binary)}, "shared"
		c.EnginePoll, c.Workers = 20*time.Millisecond, 1
	})
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")

	t.Run("simple", func(t *testing.T) {
		t.Parallel()
		j := newJourney(t, p.User(t, account))
		here := j.Completed(j.Client.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId"))
		j.Configuration = events.DerivedID(events.ConfigurationPrefix, here)
		j.UseRemoteEngine()
		there := j.Completed(j.Client.Post("/api/v1/simulations",
			object{"configurationId": j.Configuration, "name": "small", "duration": "1h"}).Want(201).Text("id"))
		j.compareResults(here, there)
		j.reproduce(binary, there)
	})
	t.Run("replayed", func(t *testing.T) {
		t.Parallel()
		j := newJourney(t, p.User(t, account))
		j.ringApart(p.Service(t, account))
		here := j.Completed(j.start().Want(201).Text("id"))
		j.UseRemoteEngine()
		there := j.Completed(j.start().Want(201).Text("id"))
		j.compareResults(here, there)
		j.reproduce(binary, there)
	})
	t.Run("terminated", func(t *testing.T) {
		t.Parallel()
		j := newJourney(t, p.User(t, account))
		id := j.AllToAlls("long", 256, 1000, 1<<40)
		j.Configuration = events.DerivedID(events.ConfigurationPrefix, id)
		j.UseRemoteEngine()
		there := j.Client.Post("/api/v1/simulations",
			object{"configurationId": j.Configuration, "name": "long", "duration": "24h"}).Want(201).Text("id")
		for _, sim := range []string{id, there} { // both run at the same time, although there is one worker
			j.Client.Eventually("/api/v1/simulations/"+sim, servicetest.HasStatus("running"))
		}
		for _, sim := range []string{id, there} {
			j.Client.Post("/api/v1/simulations/"+sim+"/terminate", nil).Want(200)
		}
		j.Client.Eventually("/api/v1/simulations/"+there+"/results", func(r servicetest.Reply) bool { return r.Status == 200 })
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

// results downloads the result files of a simulation. It omits the receipt and the log,
// which name the run, and the column of wall-clock times, which depend on its start.
func (j *journey) results(simulation string) map[string]string {
	j.T.Helper()
	var listed struct {
		Files []struct{ Name, DownloadURL string }
	}
	j.Client.Get("/api/v1/simulations/" + simulation + "/results?limit=100").Want(200).Into(&listed)
	files := map[string]string{}
	for _, f := range listed.Files {
		if f.Name == "receipt.json" || f.Name == "run.log" {
			continue
		}
		content := j.Fetch(f.DownloadURL)
		if strings.HasSuffix(f.Name, ".csv") {
			content = j.timeless(content)
		}
		files[f.Name] = string(content)
	}
	return files
}

func (j *journey) timeless(content []byte) []byte {
	j.T.Helper()
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		j.T.Fatal(err)
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
	j.T.Helper()
	a, b := j.results(here), j.results(there)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))); diff != "" || len(a) < 8 {
		j.T.Errorf("%d files, want at least 8 (-built-in +remote):\n%s", len(a), diff)
	}
	for name := range a {
		if a[name] != b[name] {
			j.T.Errorf("%s (-built-in +remote):\n%s", name, cmp.Diff(a[name], b[name]))
		}
	}
	for _, id := range []string{here, there} {
		var log struct {
			Logs []struct{ Component, Message string }
		}
		j.Client.Get("/api/v1/simulations/" + id + "/logs?limit=100&level=info").Want(200).Into(&log)
		if !strings.Contains(fmt.Sprint(log.Logs), "every rank finished") {
			j.T.Errorf("the log does not contain the end of the run: %v", log.Logs)
		}
	}
}

// reproduce repeats a simulation offline from its receipt, and checks the result.
func (j *journey) reproduce(binary, simulation string) {
	j.T.Helper()
	dir := j.Reproducible(simulation)
	text, err := os.ReadFile(filepath.Join(dir, "receipt.json"))
	if err != nil {
		j.T.Fatal(err)
	}
	var receipt struct{ Engine, SimulationID string }
	if err := json.Unmarshal(text, &receipt); err != nil || receipt.Engine != "netsim" || receipt.SimulationID != simulation {
		j.T.Errorf("got receipt %+v, %v; want one of engine netsim for %s", receipt, err, simulation)
	}
	want := fmt.Sprintf("reproduced: %d files equal\n", servicetest.ReceiptFiles(j.T, dir))
	if said, err := servicetest.Offline(j.T, binary, dir); err != nil || said != want {
		j.T.Errorf("engine run: %v: %q, want %q", err, said, want)
	}
}
