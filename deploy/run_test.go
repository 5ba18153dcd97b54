//go:build deploy

package deploy

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"netsim/internal/testwait"
)

// The tests of this file run the processes that the chart, the Compose file and the units
// describe, with their arguments, environment and secrets, but without containers, as
// another user where the test runs as root, against a cluster of three brokers of Apache
// Kafka, PostgreSQL and S3. .ci/deploy/run runs them (go test -tags deploy ./deploy).

// testChartRuns starts the job and then the Deployments of the chart. Both processes of the
// API get requests, by their readiness, while one of them is ended: no request fails.
func testChartRuns(t *testing.T) {
	w := newSite(t, "chart")
	var job *plan
	var processes []plan
	for _, m := range rendered(t, "local") {
		if m.Kind != "Job" && m.Kind != "Deployment" {
			continue
		}
		p := m.Spec.Template.Spec
		one := plan{name: m.Metadata.Name, args: p.Containers[0].Args, environment: map[string]string{}, files: map[string]string{}}
		for _, e := range p.Containers[0].Env {
			one.environment[e.Name] = e.Value
		}
		for file, from := range p.secretsOf(t) {
			one.files["/etc/netsim/secrets/"+file] = from[0] + "/" + from[1]
		}
		one.started, one.ready = p.Containers[0].StartupProbe.HTTPGet.Path, p.Containers[0].ReadinessProbe.HTTPGet.Path
		if m.Kind == "Job" {
			job = &one
			continue
		}
		for i := range m.Spec.Replicas {
			replica := one
			replica.name = fmt.Sprintf("%s-%d", one.name, i)
			processes = append(processes, replica)
		}
	}
	w.run(t, *job)
	var apis []*process
	for _, p := range processes {
		started := w.start(t, p)
		if started.http != "" {
			apis = append(apis, started)
		}
	}
	if len(apis) != 2 || len(processes) < 8 {
		t.Fatalf("the chart has %d processes, %d with the API; want at least 8, and 2", len(processes), len(apis))
	}
	w.awaitReady(t)
	w.workload(t, apis[0], apis[1])
	drain(t, w, apis)
	w.end(t)
}

// drain ends one process of the API while clients send requests to those that are ready.
func drain(t *testing.T, w *site, apis []*process) {
	t.Helper()
	router := &router{apis: apis}
	router.look()
	stop, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		for every := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-every.C:
				router.look()
			case <-stop:
				every.Stop()
				return
			}
		}
	}()
	var sent, failed, untilEnd atomic.Int64
	var ended atomic.Bool
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			// Some requests follow the end, so that all went to the other process.
			for n := 0; !ended.Load() || untilEnd.Add(1) < 200; n++ {
				status, err := w.send(router.choose(), http.MethodPost, "/api/v1/workspaces", fmt.Sprintf(`{"name": "w-%d-%d"}`, client, n))
				sent.Add(1)
				if err != nil || status != http.StatusCreated {
					failed.Add(1)
					t.Errorf("a request failed while a process of the API ended: status %d, %v", status, err)
					return
				}
			}
		})
	}
	apis[1].end(t)
	ended.Store(true)
	testwait.Group(t, &clients, "the clients")
	close(stop)
	testwait.Receive(t, looked, "the router to end")
	t.Logf("%d requests, %d failed", sent.Load(), failed.Load())
	if sent.Load() < 200 {
		t.Errorf("%d requests were sent, want at least 200", sent.Load())
	}
}

// router chooses among the processes that were ready when it last looked.
type router struct {
	apis  []*process
	ready atomic.Pointer[[]*process]
	next  atomic.Int64
}

func (r *router) look() {
	var ready []*process
	for _, p := range r.apis {
		if p.answers("/readyz") {
			ready = append(ready, p)
		}
	}
	if len(ready) > 0 {
		r.ready.Store(&ready)
	}
}

func (r *router) choose() *process {
	ready := *r.ready.Load()
	return ready[int(r.next.Add(1))%len(ready)]
}

// testComposeRuns starts the services of the Compose file that run netsim.
func testComposeRuns(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("compose", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Environment map[string]string
			Secrets     []string
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	w := newSite(t, "compose")
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(file.Services)), func(name string) bool {
		return file.Services[name].Image != "netsim" || name == "migrate"
	})
	if len(names) != 7 {
		t.Fatalf("the Compose file runs netsim as %v, want each of the seven roles", names)
	}
	if store, console := file.Services["s3"].Environment["VGW_CORS_ALLOW_ORIGIN"], file.Services["api"].Environment["NETSIM_CONSOLE_URL"]; store == "" || store != console {
		t.Errorf("the store admits pages of %q, the console is at %q", store, console)
	}
	const discovery = "/.well-known/openid-configuration"
	settings := file.Services["api"].Environment
	if in, _ := strings.CutSuffix(settings["NETSIM_CONSOLE_DISCOVERY_URL"], discovery); settings["NETSIM_OIDC_JWKS_URL"] != in+"/protocol/openid-connect/certs" {
		t.Errorf("the discovery document is at %s, the keys at %s", settings["NETSIM_CONSOLE_DISCOVERY_URL"], settings["NETSIM_OIDC_JWKS_URL"])
	}
	settings["NETSIM_CONSOLE_DISCOVERY_URL"] = w.settings["NETSIM_OIDC_ISSUER"] + discovery
	var api *process
	for _, name := range append([]string{"migrate"}, names...) {
		s := file.Services[name]
		p := plan{name: name, args: s.Command, environment: s.Environment, files: map[string]string{}, started: "/livez", ready: "/readyz"}
		for _, secret := range s.Secrets {
			p.files["/run/secrets/"+secret] = "netsim/" + secret
			if secret == "postgres" { // one role for all
				p.files["/run/secrets/"+secret] = "netsim-owner/" + secret
			}
		}
		if name == "migrate" {
			w.run(t, p)
			continue
		}
		if started := w.start(t, p); started.http != "" {
			api = started
		}
	}
	w.awaitReady(t)
	w.workload(t, api, api)
	logIn(t, api)
	w.end(t)
}

// testUnitsRun starts what the units of systemd would start, with an instance of
// netsim@.service for each role.
func testUnitsRun(t *testing.T) {
	w := newSite(t, "units")
	w.run(t, unit(t, "netsim-migrate.service", "", w))
	var api *process
	for _, role := range []string{"api", "projector", "reactor", "worker", "publisher", "lake", "archiver"} {
		if p := w.start(t, unit(t, "netsim@.service", role, w)); p.http != "" {
			api = p
		}
	}
	w.awaitReady(t)
	w.workload(t, api, api)
	w.end(t)
}

// unit returns what a unit starts. /etc/netsim/netsim.env has the site's settings, and the
// credentials are files of the process.
func unit(t *testing.T, file, instance string, w *site) plan {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("systemd", file))
	if err != nil {
		t.Fatal(err)
	}
	p := plan{name: "netsim-" + instance, environment: maps.Clone(w.settings), files: map[string]string{}, started: "/livez", ready: "/readyz"}
	p.environment["NETSIM_PARTITIONS"] = "4"
	if instance != "" { // of ROLE.env
		p.environment["NETSIM_HTTP"], p.environment["NETSIM_OPS"] = "127.0.0.1:8080", "127.0.0.1:8081"
	}
	lines := regexp.MustCompile(`(?m)^(ExecStart|Environment|LoadCredential)=(.*)$`).FindAllStringSubmatch(strings.ReplaceAll(string(text), "%i", instance), -1)
	for _, line := range lines {
		value := strings.ReplaceAll(line[2], "%d", "/run/credentials")
		switch line[1] {
		case "ExecStart":
			words := strings.Fields(value)
			if words[0] != "/usr/bin/netsim" {
				t.Fatalf("%s starts %s", file, value)
			}
			p.args = words[1:]
		case "Environment":
			name, text, _ := strings.Cut(value, "=")
			p.environment[name] = text
		case "LoadCredential":
			name, path, _ := strings.Cut(value, ":")
			secret := "netsim/" + filepath.Base(path)
			if filepath.Base(path) == "postgres-owner" {
				secret = "netsim-owner/postgres"
			}
			p.files["/run/credentials/"+name] = secret
		}
	}
	return p
}

// user is the user and group of the containers, nonroot of distroless.
const user = 65532

// credential makes a process run as the user of the containers, if the test may do that.
func credential() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: user, Gid: user}
	}
	return attr
}
