//go:build tools

package audit

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuideByHand runs the Python program of docs/audit.md on a bundle and on
// mutations of it that can be found without a key.
func TestGuideByHand(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join("..", "docs", "audit.md"))
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(guide)
	if program == nil {
		t.Fatal("the guide has no Python")
	}
	file := filepath.Join(t.TempDir(), "bundle.jsonl")
	check := func(text []byte) (string, error) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		output, err := exec.CommandContext(t.Context(), "python3", "-c", string(program[1]), file).CombinedOutput()
		return string(output), err
	}
	w := fourDays(t)
	for _, account := range []string{alice, bob} {
		r := request()
		r.Account = account
		output, err := check(bundleOf(t, w, r))
		if err != nil || !strings.Contains(output, "agrees: 3 events of platform_netsim, ") || !strings.Contains(output, account) {
			t.Fatalf("the program on the bundle of %s: %v: %s", account, err, output)
		}
	}
	text := bundleOf(t, w, request())
	random := rand.New(rand.NewPCG(6, 12))
	for _, m := range mutations() {
		if strings.Contains(m.name, "recomputed") || strings.Contains(m.name, "renumbered") {
			continue // some of these are found only by the seal, which needs the key
		}
		for range 3 {
			lines := bytes.SplitAfter(bytes.Clone(text), []byte("\n"))
			lines, at := m.apply(random, lines[:len(lines)-1])
			if output, err := check(bytes.Join(lines, nil)); err == nil {
				t.Errorf("%s at line %d was not found: %s", m.name, at, output)
			}
		}
	}
}
