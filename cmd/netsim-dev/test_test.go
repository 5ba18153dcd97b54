package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTestSharesServers: the packages of a module run once each, with the same servers,
// with the race detector where goroutines share memory; what fails is printed and is the
// command's failure, also a race between JSON's reading of a value and a write to it; the
// servers end with it.
func TestTestSharesServers(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "a path")
	for name, text := range map[string]string{
		"go.mod":            "module netsim\n\ngo 1.26\n",
		"one/one_test.go":   usesServers("one", "sync"),
		"two/two_test.go":   usesServers("two", "errors"),
		"none/none.go":      "package none\n",
		"left/left_test.go": "package left\n\nimport \"testing\"\n\nfunc TestLeftOut(t *testing.T) { t.Fatal(\"it was not to run\") }\n",
		"json/json_test.go": racesWithJSON,
		"bad/bad_test.go":   "package bad\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Error(\"this is what went wrong\") }\n\nfunc TestGood(t *testing.T) { t.Log(\"nothing went wrong here\") }\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := filepath.Join(t.TempDir(), "seen")
	cmd := exec.Command(os.Args[0], "test", "--race", "shared", "--except", "./left", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "NETSIM_DEV_TEST=1", "NETSIM_DEV_TEST_SEEN="+seen)
	text, err := cmd.CombinedOutput()
	out := string(text)
	if err == nil {
		t.Error("the command succeeded, though a test failed")
	}
	for _, want := range []string{"ok   netsim/one ", "ok   netsim/two ", "this is what went wrong", "4 failed:\n  netsim/bad TestBad\n", "WARNING: DATA RACE", "  netsim/json TestEncode\n", "dearest packages", "4 packages, 5 tests in "} {
		if !strings.Contains(out, want) {
			t.Errorf("the output has no %q", want)
		}
	}
	for _, not := range []string{"nothing went wrong here", "it was not to run"} {
		if strings.Contains(out, not) {
			t.Errorf("the output has %q", not)
		}
	}
	uses, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(uses)) // package, race detector, file of the servers
	if len(lines) != 6 || lines[2] != lines[5] {
		t.Fatalf("the packages used the servers %q; want two that use the same", lines)
	}
	for i := 0; i < len(lines); i += 3 {
		if race := lines[i] == "one"; lines[i+1] != map[bool]string{true: "race", false: "norace"}[race] {
			t.Errorf("package %s ran with %s", lines[i], lines[i+1])
		}
	}
	if _, err := os.Stat(lines[2]); !os.IsNotExist(err) {
		t.Errorf("the servers left %s behind (%v)", lines[2], err)
	}
	if t.Failed() {
		t.Log(out)
	}
}

// usesServers is a test that records its package, whether the race detector runs, and the
// file of the servers, and that all parts are in it.
func usesServers(pkg, imported string) string {
	return `package ` + pkg + `

import (
	_ "` + imported + `"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

func TestServers(t *testing.T) {
	file := os.Getenv("NETSIM_TEST_SERVERS")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"broker", "postgres", "objects", "issuer"} {
		if !strings.Contains(string(text), "\"" + part + "\":") {
			t.Errorf("%s is missing: %s", part, text)
		}
	}
	for name, want := range map[string]string{"GOGC": "400", "GOMEMLIMIT": "2GiB", "GORACE": "atexit_sleep_ms=0 no_huge_pages_for_shadow=0 clear_shadow_mmap_threshold=16777216"} {
		if got := os.Getenv(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	race := "norace"
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			race = "race"
		}
	}
	f, err := os.OpenFile(os.Getenv("NETSIM_DEV_TEST_SEEN"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("` + pkg + ` " + race + " " + file + "\n")
}
`
}

// racesWithJSON is a test in which a value changes while it is encoded.
const racesWithJSON = `package json

import (
	"encoding/json"
	"sync"
	"testing"
)

func TestEncode(t *testing.T) {
	var value struct{ N int }
	var writes sync.WaitGroup
	writes.Go(func() { value.N = 1 })
	json.Marshal(&value)
	writes.Wait()
}
`
