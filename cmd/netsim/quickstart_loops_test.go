package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stubs stand for programs of the quickstart and the lake's block. The service
// answers, but the run has no billing item, and DuckDB does not get its extensions.
var stubs = map[string]string{
	"curl": `case "$*" in
*billing/items*) echo '{"items":[]}' ;;
*costs/summary*) echo '{"CREDIT":{"total":"1.250000"}}' ;;
*) echo '{"simulationId":"sim_1","status":"failed"}' ;;
esac`,
	"bin/netsim": `echo of-netsim`,
	"duckdb":     `echo 'IO Error: Failed to download extension "ducklake"' >&2; exit 1`,
}

// TestLoopsOfTheQuickstartEnd runs the blocks whose loops wait for something, as written
// but without patience, where it cannot come: each ends with a sentence that says what it
// waited for, and why that may not come.
func TestLoopsOfTheQuickstartEnd(t *testing.T) {
	t.Parallel()
	quickstart := firstBlock(t, "README.md", "## Quickstart")
	withoutBilling, _, found := strings.Cut(quickstart, "# Find the billing item")
	if !found {
		t.Fatal("the quickstart has no loop for its billing item")
	}
	for name, c := range map[string]struct{ script, want string }{
		"billing": {quickstart, "waited in vain: there is no closed billing item of sim_1. A run that failed before it started has none;"},
		"lake": {
			withoutBilling + "SERVICE=token\n" + firstBlock(t, "docs/lake.md", "## One ATTACH, and SQL"),
			"waited in vain: the lake's total is not the invoice's 1.250000. duckdb.log says what DuckDB lacks",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeProgram(t, filepath.Join(dir, "data", "environment"), "")
			for program, script := range stubs {
				writeProgram(t, filepath.Join(dir, program), "#!/bin/sh\n"+script+"\n")
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", c.script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "WAIT_SECONDS=0", "NETSIM_DATA="+filepath.Join(dir, "data"), "PATH="+dir+":"+os.Getenv("PATH"))
			var complaints strings.Builder
			cmd.Stderr = &complaints
			before := namesIn(t, dir)
			if out, err := cmd.Output(); err == nil || !strings.Contains(complaints.String(), c.want) {
				t.Errorf("got %v, and on standard error %q, want %q; output:\n%s", err, complaints.String(), c.want, out)
			}
			if name == "lake" {
				if log, err := os.ReadFile(filepath.Join(dir, quickstartFiles, "duckdb.log")); err != nil || !strings.Contains(string(log), "Failed to download extension") {
					t.Errorf("duckdb.log is %q (%v), want DuckDB's reason", log, err)
				}
			}
			onlyIgnored(t, dir, before)
		})
	}
}

// quickstartFiles is the folder of the files that the pages' blocks write.
const quickstartFiles = ".cache/quickstart"

// onlyIgnored checks that git ignores what is new in a directory that stands for the
// repository.
func onlyIgnored(t *testing.T, dir string, before []string) {
	t.Helper()
	ignored, err := os.ReadFile(filepath.Join("..", "..", ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range namesIn(t, dir) {
		if !slices.Contains(before, name) && !strings.Contains(string(ignored), "\n/"+name+"/\n") {
			t.Errorf("the commands leave %s in the repository, where git sees it", name)
		}
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// firstBlock returns the first block of shell commands below a heading of a
// page of the repository.
func firstBlock(t *testing.T, file, heading string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), heading+"\n")
	_, block, _ := strings.Cut(after, "```sh\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatalf("%s has no commands below %q", file, heading)
	}
	return block
}

// writeProgram makes an executable file, and the folder that it is in.
func writeProgram(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
