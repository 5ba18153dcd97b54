package netsim_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeShowsTheExamples: the blocks of README.md are the program examples/submit and the
// bodies of the examples, which are compiled here and run at a service (service_test.go).
func TestReadmeShowsTheExamples(t *testing.T) {
	t.Parallel()
	page, program, examples := read(t, "README.md"), read(t, "examples/submit/main.go"), read(t, "example_test.go")
	bodies := map[string]bool{strings.TrimSpace(program): true}
	for _, m := range regexp.MustCompile(`(?ms)^func Example\w*\(\) \{\n(.*?)^\}$`).FindAllStringSubmatch(examples, -1) {
		bodies[strings.TrimSpace(regexp.MustCompile(`(?m)^\t`).ReplaceAllString(m[1], ""))] = true
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(page, -1)
	for _, block := range blocks {
		text := strings.TrimSpace(block[1])
		if !bodies[text] {
			t.Errorf("no example is this block:\n%s", text)
		}
		delete(bodies, text)
	}
	for body := range bodies {
		t.Errorf("README.md does not show this example:\n%s", body)
	}
}

// TestTheGeneratedCodeIsUpToDate generates it again, to another file.
func TestTheGeneratedCodeIsUpToDate(t *testing.T) {
	t.Parallel()
	again, config := t.TempDir()+"/api.gen.go", t.TempDir()+"/oapi-codegen.yaml"
	elsewhere := strings.Replace(read(t, "api/oapi-codegen.yaml"), "output: api.gen.go", "output: "+again, 1)
	if err := os.WriteFile(config, []byte(elsewhere), 0o600); err != nil {
		t.Fatal(err)
	}
	generate := exec.CommandContext(t.Context(), "go", "tool", "-modfile=../../../tools/go.mod", "oapi-codegen",
		"-config", config, "../../../api/openapi.yaml")
	generate.Dir = "api"
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.Equal([]byte(read(t, again)), []byte(read(t, "api/api.gen.go"))) {
		t.Error("api/api.gen.go is out of date: go generate ./api")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
