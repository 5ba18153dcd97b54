//go:build tools

package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/devissuer"
	"netsim/internal/teststack"
)

// TestDeployingGuide follows docs/deploying.md on bare machines, and then the commands of
// docs/operating.md, on a cluster of three brokers of Apache Kafka, PostgreSQL and S3: it
// runs the blocks in their order in one shell. Only the values of the first block and the
// ports differ, so the test can run beside another netsim. At the end every process is
// asked to end, and must exit with 0.
func TestDeployingGuide(t *testing.T) {
	t.Parallel()
	root := repository(t)
	blocks := append(shellBlocks(t, root, "docs/deploying.md", "On bare machines"), shellBlocks(t, root, "docs/operating.md", "Status commands")...)
	values, blocks := blocks[0], blocks[1:]
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "deploy"), filepath.Join(dir, "deploy")); err != nil {
		t.Fatal(err)
	}
	program := fmt.Sprintf("#!/bin/sh\nNETSIM_COMMAND_TEST=1 exec %s \"$@\"\n", os.Args[0]) // see TestMain
	if err := os.WriteFile(filepath.Join(dir, "netsim"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	script := strings.Join(append([]string{guideValues(t, values, dir)}, blocks...), "\n") + `
for pid in "$LOGS"/*.pid; do kill "$(cat "$pid")"; done
for pid in "$LOGS"/*.pid; do wait "$(cat "$pid")"; done
`
	written := 0
	var ports []string
	for range 10 {
		ports = append(ports, freePort(t, ports))
	}
	script = regexp.MustCompile(`\b(910[1-8]|808[12])\b`).ReplaceAllStringFunc(script, func(port string) string {
		written++
		return ports[slices.Index([]string{"9101", "9102", "9103", "9104", "9105", "9106", "9107", "9108", "8081", "8082"}, port)]
	})
	if written < 20 {
		t.Fatalf("the guide names a port %d times, want at least 20: the test would not know its processes", written)
	}

	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-xc", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Minute
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) //nolint:errcheck // all have ended unless the test failed
	stuck := time.AfterFunc(10*time.Minute, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stuck.Stop()
	if err := cmd.Wait(); err != nil {
		for _, log := range logsIn(t, filepath.Join(dir, "logs")) {
			said.WriteString(log)
		}
		t.Fatalf("the guide failed: %v\n%s", err, said.String())
	}
	for file, want := range map[string]string{"simulation.json": `"status":"completed"`, "items.json": `"status":"closed"`, "ready.json": `"status":"ready"`} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s is %s (%v), want %s", file, text, err, want)
		}
	}
	for _, log := range logsIn(t, filepath.Join(dir, "logs")) {
		for line := range strings.Lines(log) {
			if strings.Contains(line, `"level":"ERROR"`) {
				t.Errorf("a process of the guide logged an error: %s", line)
			}
		}
	}
}

// shellBlocks returns the blocks of shell commands of a section, in their order. The
// section ends at the next heading of the same level.
func shellBlocks(t *testing.T, root, file, heading string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, m[1])
	}
	if !found || len(blocks) == 0 {
		t.Fatalf("%s has no commands below %q", file, heading)
	}
	return blocks
}

// guideValues returns the assignments of the guide's first block with values of this
// machine, and the token.
func guideValues(t *testing.T, written, dir string) string {
	t.Helper()
	postgres := emptyPostgres(t)
	password, _ := postgres.User.Password()
	store, issuer := teststack.Objects(t), teststack.Issuer(t)
	values := map[string]string{
		"KAFKA":  strings.Join(teststack.KafkaCluster(t), ","),
		"PGHOST": postgres.Hostname(), "PGPORT": postgres.Port(), "PGUSER": postgres.User.Username(), "PGPASSWORD": password,
		"S3": store.Endpoint, "S3_REGION": store.Region, "S3_ACCESS_KEY": store.AccessKey, "S3_SECRET_KEY": store.SecretKey,
		"ISSUER": issuer.URL, "KEYS": issuer.JWKSURL, "CONSOLE": "https://console.example",
		"ETC": filepath.Join(dir, "etc"), "LOGS": filepath.Join(dir, "logs"),
	}
	script := regexp.MustCompile(`\b([A-Z][A-Z0-9_]*)=\S*`).ReplaceAllStringFunc(written, func(assignment string) string {
		name, _, _ := strings.Cut(assignment, "=")
		value, known := values[name]
		if !known {
			t.Fatalf("the guide's first block assigns %s, which the test does not know", name)
		}
		delete(values, name)
		return name + "='" + value + "'"
	})
	if len(values) != 0 {
		t.Fatalf("the guide's first block does not assign %v", values)
	}
	return script + "TOKEN='" + issuer.Token(devissuer.Options{Service: true}) + "'\n"
}

// emptyPostgres returns the URL, with a superuser, of a server without the database and
// the roles of the guide.
func emptyPostgres(t *testing.T) *url.URL {
	t.Helper()
	server, err := url.Parse(teststack.Start(t, "postgres", t.TempDir(), "--no-sync").URL)
	if err != nil {
		t.Fatal(err)
	}
	server.Path = "/postgres"
	run := func(statements ...string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), server.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context()) //nolint:errcheck // the statements have ended
		for _, statement := range statements {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	run("CREATE ROLE operator SUPERUSER LOGIN PASSWORD 'secret'")
	server.User = url.UserPassword("operator", "secret")
	run("DROP DATABASE netsim", "ALTER ROLE netsim RENAME TO bootstrap")
	return server
}

// freePort returns a free port that is not among the others.
func freePort(t *testing.T, others []string) string {
	t.Helper()
	for {
		_, port, _ := strings.Cut(teststack.FreeAddress(t), ":")
		if !slices.Contains(others, port) {
			return port
		}
	}
}

// logsIn returns the content of each log in a directory.
func logsIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	var logs []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, "\n== "+filepath.Base(file)+"\n"+string(text))
	}
	return logs
}
