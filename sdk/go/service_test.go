//go:build service

package netsim_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	netsim "netsim/sdk/go"
	"netsim/sdk/go/api"
)

// TestSubmit runs the first block of README.md at the service, as its lines of shell do.
func TestSubmit(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "run", "./examples/submit").CombinedOutput()
	if err != nil || !regexp.MustCompile(`^time: [0-9.]+[a-z]+\ncost: 0\.\d+ CREDIT\n$`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestExamples runs the other blocks, and compares what they print.
func TestExamples(t *testing.T) {
	client = newClient(t, netsim.Config{})
	run, err := client.SubmitAndWait(t.Context(), api.SimpleSubmission{Name: "examples", Workload: &api.SimpleWorkload{
		Ranks: 8, Phases: []api.SimplePhase{{OperationType: "allReduce", DataSize: 1 << 20}},
	}})
	if err != nil || netsim.Failed(run) != nil {
		t.Fatalf("%+v, %v", run, err)
	}
	simID = run.ID
	t.Chdir(t.TempDir()) // the files of stores
	for _, example := range []struct {
		name, want string
		run        func()
	}{
		{"lists", `(?m)^` + simID + ` examples$`, Example_lists},
		{"Watch", `^(\w+\n)*completed\n$`, ExampleClient_Watch},
		{"WaitStudy", `^0 [1-9]\d* [1-9]\d*\n1 [1-9]\d* [1-9]\d*\n$`, ExampleClient_WaitStudy},
		{"Rows", `\.csv map\[.*\w+:\d+`, ExampleClient_Rows},
		{"versions", `^412 PRECONDITION_FAILED "\d+"\n$`, Example_versions},
		{"Follow", ` sim_\w+\n$`, ExampleClient_Follow},
		{"Upload", `^ts_\w+ \w+\n$`, ExampleClient_Upload},
	} {
		t.Run(example.name, func(t *testing.T) {
			if got := printed(t, example.run); !regexp.MustCompile(example.want).MatchString(got) {
				t.Errorf("it printed %q; want %s", got, example.want)
			}
		})
	}
	if position, err := netsim.FileStore("position").Load(t.Context()); err != nil || position == "" {
		t.Errorf("the feed left the position %q, %v", position, err)
	}
	if info, err := os.Stat("upload"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the state of the upload: %v, %v", info, err)
	}
}

// printed returns what run prints.
func printed(t *testing.T, run func()) string {
	t.Helper()
	file, err := os.Create(t.TempDir() + "/stdout")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdout := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = stdout }()
	run()
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
