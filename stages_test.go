package netsim_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scratch is a repository with .ci/stage and stages of a test.
type scratch struct {
	t   *testing.T
	dir string
}

func newScratch(t *testing.T, files map[string]string) *scratch {
	t.Helper()
	s := &scratch{t, t.TempDir()}
	script, err := os.ReadFile(".ci/stage")
	if err != nil {
		t.Fatal(err)
	}
	s.write(".ci/stage", string(script))
	for path, text := range files {
		s.write(path, text)
	}
	s.mustRun("git", "init", "-q")
	s.commit()
	return s
}

// write writes a file. Those below .ci can be executed.
func (s *scratch) write(path, text string) {
	s.t.Helper()
	path = filepath.Join(s.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.Contains(path, "/.ci/") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
}

// run runs a command in the repository, and returns what it prints.
func (s *scratch) run(name string, args ...string) (string, error) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "FULL=", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *scratch) mustRun(name string, args ...string) string {
	s.t.Helper()
	out, err := s.run(name, args...)
	if err != nil {
		s.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(out)
}

func (s *scratch) commit() {
	s.t.Helper()
	s.mustRun("git", "add", "-A")
	s.mustRun("git", "commit", "-q", "--allow-empty", "-m", "change")
}

func (s *scratch) digest(name string) string {
	s.t.Helper()
	return s.mustRun(".ci/stage", "--digest", name)
}

// proved returns .ci/proved, which may be missing.
func (s *scratch) proved() string {
	text, err := os.ReadFile(filepath.Join(s.dir, ".ci/proved"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return string(text)
}

// ran returns the names of the stages that have run, in order, and forgets them.
func (s *scratch) ran() string {
	text, err := os.ReadFile(filepath.Join(s.dir, ".git/ran"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, ".git/ran")); err != nil {
		s.t.Fatal(err)
	}
	return string(bytes.ReplaceAll(bytes.TrimSpace(text), []byte("\n"), []byte(" ")))
}

// stageScript is a stage that notes its name and the size that is asked for, and then ends
// with the status.
func stageScript(name, status string, depends ...string) string {
	return "#!/bin/sh\n# depends: " + strings.Join(depends, "\n# depends: ") + "\necho " + name + "$FULL >> .git/ran\nexit " + status + "\n"
}

// TestTheDigestOfAStage changes with what the stage depends on, and with nothing else.
func TestTheDigestOfAStage(t *testing.T) {
	t.Parallel()
	s := newScratch(t, map[string]string{
		".ci/one/run":      stageScript("one", "0", "code pages/page.txt :(exclude,glob)**/*_test.go", "@shared", "code/kept_test.go"),
		".ci/two/run":      stageScript("two", "0", "code"),
		".ci/paths/shared": "# Shared.\nshared :(exclude)shared/not\nmore\n",
		"code/a.go":        "a", "code/a_test.go": "a", "code/kept_test.go": "a", "pages/page.txt": "a", "pages/other.txt": "a",
		"shared/a": "a", "shared/not/a": "a", "more/a": "a",
	})
	for _, step := range []struct {
		path    string
		changes bool
	}{
		{"code/a.go", true}, {"code/below/new.go", true}, {"pages/page.txt", true}, {"code/kept_test.go", true},
		{"shared/a", true}, {"more/a", true}, {".ci/one/requirements.txt", true},
		{"code/a_test.go", false}, {"pages/other.txt", false}, {"shared/not/a", false}, {"elsewhere/a.go", false},
		{".ci/two/run", false}, {".ci/lib", false}, {".ci/stage", false}, {".ci/proved", false},
	} {
		before := s.digest("one")
		text, _ := os.ReadFile(filepath.Join(s.dir, step.path))
		s.write(step.path, string(text)+"\n")
		if s.digest("one") != before {
			t.Errorf("%s: the digest changes before the commit", step.path)
		}
		s.commit()
		if changed := s.digest("one") != before; changed != step.changes {
			t.Errorf("%s: the digest changes: %t, want %t", step.path, changed, step.changes)
		}
	}
	for _, change := range [][]string{{"mv", "code/a.go", "code/b.go"}, {"update-index", "--chmod=+x", "code/b.go"}, {"rm", "-q", "-f", "code/b.go"}} {
		before := s.digest("one")
		s.mustRun("git", change...)
		s.mustRun("git", "commit", "-q", "-m", "change")
		if s.digest("one") == before {
			t.Errorf("git %v does not change the digest", change)
		}
	}
}

// TestDueStagesRun: a stage runs if and only if its digest in .ci/proved is not today's.
// With --run-all every stage runs.
func TestDueStagesRun(t *testing.T) {
	t.Parallel()
	s := newScratch(t, map[string]string{
		".ci/one/run": stageScript("one", "0", "a"), ".ci/two/run": stageScript("two", "0", "b"), ".ci/tool/install": "#!/bin/sh\n", "a": "1", "b": "1",
	})
	expect := func(due, ran string) {
		t.Helper()
		if got := strings.Join(strings.Fields(s.mustRun(".ci/stage", "--due")), " "); got != due {
			t.Errorf("due are %q, want %q", got, due)
		}
		s.mustRun(".ci/stage", "--run-due")
		if got := s.ran(); got != ran {
			t.Errorf("%q ran, want %q", got, ran)
		}
	}
	expect("one two", "one two")
	expect("", "")
	s.commit()
	expect("", "")
	if want := "one " + s.digest("one") + "\ntwo " + s.digest("two") + "\n"; s.proved() != want {
		t.Errorf(".ci/proved is %q, want %q", s.proved(), want)
	}

	s.write("a", "2")
	s.commit()
	if got := s.mustRun(".ci/stage", "--list"); got != "one due\ntwo proved" {
		t.Errorf("--list prints %q", got)
	}
	expect("one", "one")
	s.write(".ci/proved", "one "+s.digest("two")+"\ntwo "+s.digest("two")+"\ngone "+s.digest("one")+"\n")
	expect("one", "one")
	if strings.Contains(s.proved(), "gone") {
		t.Errorf("a stage that is gone is still in .ci/proved: %s", s.proved())
	}
	s.mustRun(".ci/stage", "--run-all")
	if got := s.ran(); got != "oneyes twoyes" {
		t.Errorf("--run-all ran %q, want both, at full size", got)
	}
	s.mustRun(".ci/stage", "two", "one")
	if got := s.ran(); got != "two one" {
		t.Errorf("%q ran, want the named ones", got)
	}
	if out, err := s.run(".ci/stage", "three"); err == nil || !strings.Contains(out, "no stage three") {
		t.Errorf("an unknown stage: %v, %s", err, out)
	}
}

// TestNothingIsRecordedWithoutAProof: not when the stage fails, and not while what it
// depends on differs from HEAD. The stages after one that fails run all the same.
func TestNothingIsRecordedWithoutAProof(t *testing.T) {
	t.Parallel()
	s := newScratch(t, map[string]string{
		".ci/bad/run": stageScript("bad", "3", "a"), ".ci/good/run": stageScript("good", "0", "b"), "a": "1", "b": "1",
		".ci/proved": "bad 0123\n",
	})
	out, err := s.run(".ci/stage", "--run-due")
	if err == nil || !strings.Contains(out, "failed: bad\n") {
		t.Errorf("a failed stage: %v, %s", err, out)
	}
	if got := s.ran(); got != "bad good" {
		t.Errorf("%q ran, want both", got)
	}
	if want := "bad 0123\ngood " + s.digest("good") + "\n"; s.proved() != want {
		t.Errorf(".ci/proved is %q, want %q", s.proved(), want)
	}

	for _, path := range []string{"b", ".ci/good/new"} {
		s.commit()
		s.write(path, "uncommitted")
		before := s.proved()
		if out := s.mustRun(".ci/stage", "good"); !strings.Contains(out, "nothing is recorded") || !strings.Contains(out, path) {
			t.Errorf("with a change of %s the stage says %s", path, out)
		}
		if got := s.ran(); got != "good" || s.proved() != before {
			t.Errorf("with a change of %s %q ran and .ci/proved is %q, want %q", path, got, s.proved(), before)
		}
	}
}

// TestLoadEndsWithItsCommand: the busy processes run beside the command, and end when it
// ends or fails.
func TestLoadEndsWithItsCommand(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"0", "7"} {
		cmd := exec.CommandContext(t.Context(), ".ci/load", "2", "sh", "-c", `cat "/proc/$PPID/task/$PPID/children"; exit `+status)
		out, err := cmd.Output()
		if got := cmd.ProcessState.ExitCode(); status != string(rune('0'+got)) {
			t.Errorf("ended with %d (%v), want %s", got, err, status)
		}
		children := strings.Fields(string(out))
		if len(children) != 3 {
			t.Fatalf("the command has %d processes beside it, want 2: %s", len(children)-1, out)
		}
		for _, pid := range children {
			if text, err := os.ReadFile("/proc/" + pid + "/cmdline"); err == nil && strings.Contains(string(text), ".ci/load") {
				t.Errorf("process %s still runs: %q", pid, text)
			}
		}
	}
}
