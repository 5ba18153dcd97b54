package main

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestRestartKeepsTheData(t *testing.T) {
	t.Parallel()
	data := newData(t)

	first := startDev(t, runSettings(data), "run", "--service", os.Args[0])
	before := settingsOf(t, first)
	execute(t, before["NETSIM_POSTGRES"], "create table kept (id int)")
	left := childrenOf(t, first.Process.Pid)
	if len(left) < 2 {
		t.Errorf("netsim-dev has %d children, want the service and postgres", len(left))
	}
	if code := first.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit status after SIGTERM = %d, want 0: %s", code, first.errorOutput(t))
	}
	left.waitEnded(t)
	key := readSecret(t, filepath.Join(data, "audit.key"))
	if settings := readSecret(t, filepath.Join(data, "environment")); !strings.Contains(settings, "export NETSIM_KAFKA="+before["NETSIM_KAFKA"]+"\n") ||
		!strings.HasPrefix(key, "PRIVATE+KEY+netsim-dev+") || before["NETSIM_AUDIT_KEY"] != filepath.Join(data, "audit.key") {
		t.Errorf("environment file, want NETSIM_KAFKA=%s; audit key in %s; got\n%s", before["NETSIM_KAFKA"], before["NETSIM_AUDIT_KEY"], settings)
	}
	writer := readSecret(t, filepath.Join(data, "writer.keys"))
	if len(writer) != 65 || before["NETSIM_WRITER_KEYS_FILE"] != filepath.Join(data, "writer.keys") {
		t.Errorf("the writer's key has %d bytes, want 65; the service reads it from %q", len(writer), before["NETSIM_WRITER_KEYS_FILE"])
	}

	if before["NETSIM_CONSOLE_URL"] != "http://"+before["NETSIM_HTTP"] || before["NETSIM_CONSOLE_CLIENT_ID"] == "" || !strings.HasPrefix(before["NETSIM_CONSOLE_DISCOVERY_URL"], before["NETSIM_OIDC_ISSUER"]+"/") {
		t.Errorf("the console has the settings %q, %q, %q", before["NETSIM_CONSOLE_URL"], before["NETSIM_CONSOLE_CLIENT_ID"], before["NETSIM_CONSOLE_DISCOVERY_URL"])
	}

	second := startDev(t, runSettings(data), "run", "--service", os.Args[0])
	after := settingsOf(t, second)
	execute(t, after["NETSIM_POSTGRES"], "drop table kept")
	if readSecret(t, filepath.Join(data, "audit.key")) != key {
		t.Error("the audit key has changed after the restart")
	}
	if readSecret(t, filepath.Join(data, "writer.keys")) != writer {
		t.Error("the writer's key has changed after the restart")
	}
	for _, name := range []string{"NETSIM_OIDC_ISSUER", "NETSIM_S3_ACCESS_KEY", "NETSIM_S3_SECRET_KEY", "NETSIM_DATA"} {
		if before[name] != after[name] {
			t.Errorf("%s = %q after the restart, was %q", name, after[name], before[name])
		}
	}
	if code := second.end(t, syscall.SIGINT); code != 0 {
		t.Errorf("exit status after SIGINT = %d, want 0: %s", code, second.errorOutput(t))
	}
}

// readSecret reads a file that only its owner may read.
func readSecret(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v, want 0600", path, info.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestKillLeavesNoProcessBehind(t *testing.T) {
	t.Parallel()
	data := newData(t)
	d := startRun(t, data)
	left := childrenOf(t, d.Process.Pid)
	if len(left) < 2 {
		t.Errorf("netsim-dev has %d children, want the service and postgres", len(left))
	}

	d.end(t, syscall.SIGKILL)
	left.waitEnded(t)

	// A killed stack can be started again.
	again := startRun(t, data)
	again.end(t, syscall.SIGTERM)
}

func TestKillOfTheParentEndsRun(t *testing.T) {
	t.Parallel()
	// A shell stands in for make: it starts netsim-dev and waits for it.
	shell := startCommand(t, runSettings(newData(t)),
		"/bin/sh", "-c", `"$0" run --end-with-parent --service "$0"; :`, os.Args[0])
	shell.until(t, "Ctrl-C ends everything.")
	run := childrenOf(t, shell.Process.Pid)
	for pid := range run {
		for child, fd := range childrenOf(t, pid) {
			run[child] = fd
		}
	}
	shell.end(t, syscall.SIGKILL)
	run.waitEnded(t)
}

// The parent may die before the kernel is asked to tell.
func TestRunWhoseParentHasDied(t *testing.T) {
	t.Parallel()
	if err := endWithParent(os.Getppid() + 1); err == nil {
		t.Error("there is no error, although the parent is another process")
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() }) // not deferred: the subtests outlive this function
	inUse := t.TempDir()
	lock, err := lockDir(inUse, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\n[ \"$1\" = serve ] || exit 0\necho no such topic\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}

	tests := map[string]struct {
		settings []string
		service  string
		want     string
		options  []string
	}{
		"a data directory in use": {
			settings: []string{"NETSIM_DATA=" + inUse, "NETSIM_HTTP=127.0.0.1:0"}, service: os.Args[0],
			want: `^netsim-dev: another netsim-dev is using the data directory /\S+\n$`,
		},
		"a port in use": {
			settings: []string{"NETSIM_DATA=" + newData(t), "NETSIM_HTTP=" + taken.Addr().String()}, service: os.Args[0],
			want: `^netsim-dev: address 127.0.0.1:\d+ is in use by another program; stop it, or choose another with NETSIM_HTTP\n$`,
		},
		"a malformed address": {
			settings: []string{"NETSIM_DATA=" + newData(t), "NETSIM_HTTP=nowhere"}, service: os.Args[0],
			want: `^netsim-dev: NETSIM_HTTP is "nowhere": it must be host:port, such as 127.0.0.1:8080\n$`,
		},
		"a missing service": {
			settings: runSettings(newData(t)), service: "/nowhere/netsim",
			want: `^netsim-dev: the service's program /nowhere/netsim is missing; build it with: make build\n$`,
		},
		"a missing service of the environment": {
			settings: append(runSettings(newData(t)), "NETSIM_BIN=/elsewhere/netsim"),
			want:     `^netsim-dev: the service's program /elsewhere/netsim is missing; build it with: make build\n$`,
		},
		"missing jars of Apache Kafka": {
			settings: runSettings(newData(t)), service: os.Args[0], options: []string{"--jars", "/nowhere"},
			want: `^netsim-dev: kafka: no jars of Apache Kafka in "/nowhere"; name their directory with --jars\n$`,
		},
		"a missing PostgreSQL": {
			settings: append(runSettings(newData(t)), "PG_BIN=/nowhere"), service: os.Args[0],
			want: `^netsim-dev: postgres: PG_BIN: open /nowhere/postgres: no such file or directory\n$`,
		},
		"a service that ends at once": {
			settings: runSettings(newData(t)), service: broken,
			want: `^netsim-dev: the service ended: exit status 3; its log /\S+ ends with:\nno such topic\n$`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"run"}, test.options...)
			if test.service != "" {
				args = append(args, "--service", test.service)
			}
			d := startDev(t, test.settings, args...)
			d.untilEnd(t)
			if code := d.ProcessState.ExitCode(); code != 1 {
				t.Errorf("exit status = %d, want 1", code)
			}
			if got := d.errorOutput(t); !regexp.MustCompile(test.want).MatchString(got) {
				t.Errorf("stderr = %q, want a match of %s", got, test.want)
			}
		})
	}
}

func TestBannerCommandCanBePasted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		data, token string
	}{
		"default data": {"/repo/.netsim", "./bin/netsim token"},
		"other data":   {"/my data", "NETSIM_DATA='/my data' ./bin/netsim token"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{binary: "/repo/bin/netsim", http: "0.0.0.0:8080", ops: ":1", data: test.data, cwd: "/repo"}
			want := `curl -H "Authorization: Bearer $(` + test.token + `)" http://127.0.0.1:8080/api/v1/workspaces`
			if got := s.banner(nil); !strings.Contains(got, want) {
				t.Errorf("banner = %s\nwant %s", got, want)
			}
		})
	}
}

// settingsOf waits for the banner and returns the environment of the service, which
// runFakeService answers every request with.
func settingsOf(t *testing.T, d *dev) map[string]string {
	t.Helper()
	banner := d.until(t, "Ctrl-C ends everything.")
	api := regexp.MustCompile(`http://\S+/api/v1`).FindString(banner)
	res, err := http.Get(api)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var settings map[string]string
	if err := json.NewDecoder(res.Body).Decode(&settings); err != nil {
		t.Fatal(err)
	}
	return settings
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
