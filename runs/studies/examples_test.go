//go:build tools

package studies_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

var learn = flag.Bool("learn", false, "rewrite the outputs in docs/studies")

// TestExamples runs the commands of each page in docs/studies as written, against a service,
// and compares the output with the one on the page.
func TestExamples(t *testing.T) {
	t.Parallel()
	const pages = "../../docs/studies/"
	functions, _ := blockOf(t, pages+"README.md", "sh")
	p := servicetest.Shared(t)
	for _, page := range []string{"oversubscription.md", "algorithms.md", "stragglers.md", "difference.md", "templates.md"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			account := servicetest.NewAccount()
			p.Grant(t, account, "1000000")
			token := teststack.Issuer(t).Token(devissuer.Options{User: "reader", Account: account})
			commands, _ := blockOf(t, pages+page, "sh")
			cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", functions+commands)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "NETSIM="+p.URL+"/api/v1", "AUTH=Authorization: Bearer "+token)
			var complaints strings.Builder
			cmd.Stderr = &complaints
			stuck := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() }) //nolint:errcheck // the process may have ended
			defer stuck.Stop()
			got, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, got, complaints.String())
			}
			want, text := blockOf(t, pages+page, "text")
			if *learn {
				text = strings.TrimRight(strings.Split(text, "\n```text\n")[0], "\n") + "\n\n```text\n" + string(got) + "```\n"
				if err := os.WriteFile(filepath.Clean(pages+page), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if string(got) != want {
				t.Errorf("got the output\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// blockOf returns the first block of a language in a page, and the page.
func blockOf(t *testing.T, page, language string) (block, text string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Clean(page))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(b), "```"+language+"\n")
	block, _, closed := strings.Cut(after, "```\n")
	if (!found || !closed) && !*learn {
		t.Fatalf("%s has no block of %s", page, language)
	}
	return block, string(b)
}
