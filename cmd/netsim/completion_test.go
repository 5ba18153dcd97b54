package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCompletionByCommand: the shell gets its code from the command, and the words that can
// follow from the program itself.
func TestCompletionByCommand(t *testing.T) {
	t.Parallel()
	if out, said, code := netsim(t, "completion", "bash"); code != 0 || !strings.Contains(out, "source <(netsim completion -c bash)") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	if out, said, code := netsim(t, "completion", "bash", "--code"); code != 0 || !strings.HasPrefix(out, "complete ") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	for line, want := range map[string]string{"netsim s": "serve sim streams study", "netsim sim w": "watch", "netsim sim watch --js": "--json", "netsim psql ": ""} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = []string{"NETSIM_COMMAND_TEST=1", "COMP_LINE=" + line}
		out, err := cmd.Output()
		words := strings.Fields(string(out))
		slices.Sort(words)
		if got := strings.Join(words, " "); err != nil || got != want {
			t.Errorf("%q goes on with %q, %v; want %q", line, got, err, want)
		}
	}
}
