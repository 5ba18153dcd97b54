package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// TestTheCommandLineOfItsPage runs the blocks of docs/command-line.md in one shell, as a user
// of a service would type them.
func TestTheCommandLineOfItsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	script := `netsim() { NETSIM_COMMAND_TEST=1 "$PROGRAM" "$@"; }` + "\n"
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(page, -1) {
		script += string(block[1])
	}
	p, account := servicetest.Shared(t), servicetest.NewAccount()
	p.Grant(t, account, "100")
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "PROGRAM=" + os.Args[0], "URL=" + p.URL, "XDG_CONFIG_HOME=" + filepath.Join(dir, "home"),
		"TOKEN=" + teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "robot", Account: account, Roles: []string{"billing"}}),
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"as robot of " + account, " completed, simulated time ", "results/receipt.json\n", "The critical path, ", "2 points, 2 of 2 runs completed\n",
		"simulated time by the fabric's price", " has version 2\n", " cluster, ", "\ntotal ", "\nsmall\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the commands print no %q:\n%s", want, out)
		}
	}
	for _, file := range []string{"simulations.json", "changes.ndjson", "position"} {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestTheHelpHasTwoGroups: the commands for users are apart from those of operators, and wrong
// usage has the exit code 2.
func TestTheHelpHasTwoGroups(t *testing.T) {
	t.Parallel()
	help, said, code := netsim(t, "--help")
	if code != 0 || !regexp.MustCompile(`(?s)Exit codes: 0 done;.*\nUse the service\n.*\n  sim submit .*\nOperate it\n  serve\n.*\n  readmodel promote `).MatchString(help) {
		t.Errorf("exit %d: %s\n%s", code, said, help)
	}
	for _, args := range [][]string{{"none"}, {"sim", "watch"}, {"readmodel", "digest", "--ranges", "3"}} {
		if out, said, code := netsim(t, args...); code != 2 || out != "" || !strings.HasPrefix(said, "netsim: error: ") {
			t.Errorf("netsim %v: exit %d: %s%s", args, code, out, said)
		}
	}
}
