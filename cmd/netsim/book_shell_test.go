//go:build tools

package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"netsim/internal/testwait"
)

// book is the operators' pages, and the shell in which their commands run.
type book struct {
	t     *testing.T
	dir   string
	pages map[string][]pageBlock
	ports map[string]string // of the pages, with those that stand for them
	log   *os.File          // what the commands print
	in    io.Writer
	ended chan string // a line for each script that has ended, and one for the shell
	runs  int
}

// pageBlock is a block of shell commands of a page.
type pageBlock struct {
	heading string // of the second level; "" above the first
	text    string
	run     bool
}

func newBook(t *testing.T) *book {
	t.Helper()
	b := &book{t: t, dir: t.TempDir(), pages: map[string][]pageBlock{}, ports: map[string]string{}, ended: make(chan string, 1)}
	root := repository(t)
	for _, page := range []string{deployingPage, operatingPage, lakePage, recoveryPage, upgradingPage, runbook} {
		b.pages[page] = shellBlocks(t, filepath.Join(root, page))
	}
	var taken []string
	for _, port := range []string{"9101", "9102", "9103", "9104", "9105", "9106", "9107", "9108", "8081", "8082"} {
		b.ports[port] = freePort(t, taken)
		taken = append(taken, b.ports[port])
	}
	if err := os.Symlink(filepath.Join(root, "deploy"), filepath.Join(b.dir, "deploy")); err != nil {
		t.Fatal(err)
	}
	program := fmt.Sprintf("#!/bin/sh\nNETSIM_COMMAND_TEST=1 exec %s \"$@\"\n", os.Args[0]) // see TestMain
	if err := os.WriteFile(filepath.Join(b.dir, "netsim"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	b.open()
	return b
}

// open starts the shell. It ends with the first command that fails.
func (b *book) open() {
	b.t.Helper()
	var err error
	if b.log, err = os.Create(filepath.Join(b.dir, "shell.log")); err != nil {
		b.t.Fatal(err)
	}
	said, says, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-xs")
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), "PATH="+b.dir+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = b.log, b.log, []*os.File{says}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	b.in = in
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // all have ended unless the test failed
		says.Close()
	})
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			b.ended <- lines.Text()
		}
	}()
	go func() { b.ended <- fmt.Sprint("the shell ended: ", cmd.Wait()) }()
}

// sh runs commands, as a block of a page.
func (b *book) sh(commands string) {
	b.t.Helper()
	b.runs++
	name := fmt.Sprintf("%03d.sh", b.runs)
	commands = portWord.ReplaceAllStringFunc(commands, func(port string) string { return b.ports[port] })
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(commands+"\n"), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(b.in, ". ./%s </dev/null; echo %s >&3\n", name, name); err != nil {
		b.t.Log(err) // the shell has ended
	}
	if end := testwait.Receive(b.t, b.ended, name); end != name {
		said, err := os.ReadFile(b.log.Name())
		for _, log := range logsIn(b.t, filepath.Join(b.dir, "logs")) {
			said = append(said, log[max(0, len(log)-4000):]...)
		}
		b.t.Fatalf("%s\n%s (%v)\n%s", commands, end, err, said[max(0, len(said)-60000):])
	}
}

var portWord = regexp.MustCompile(`\b(910[1-8]|808[12])\b`)

// of returns the blocks below a heading.
func (b *book) of(page, heading string) (found []*pageBlock) {
	b.t.Helper()
	for i := range b.pages[page] {
		if one := &b.pages[page][i]; one.heading == heading {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		b.t.Fatalf("%s has no commands below %q", page, heading)
	}
	return found
}

// block runs a block below a heading.
func (b *book) block(page, heading string, n int) {
	b.t.Helper()
	found := b.of(page, heading)
	if n >= len(found) {
		b.t.Fatalf("%s has %d blocks below %q, want number %d", page, len(found), heading, n)
	}
	found[n].run = true
	b.sh(found[n].text)
}

// all runs the blocks below a heading, in their order, without the one that has the values.
func (b *book) all(page, heading string) {
	b.t.Helper()
	for i, one := range b.of(page, heading) {
		if !one.run || i > 0 || !valuesOnly.MatchString(one.text) {
			b.block(page, heading, i)
		}
	}
}

var valuesOnly = regexp.MustCompile(`^(?:(?:export )?(?:[A-Z][A-Z0-9_]*=\S* ?)+ *(?:#.*)?\n)+$`)

// values runs the first block below a heading, which has only assignments, with other
// values: all of those that it assigns.
func (b *book) values(page, heading string, values map[string]string) {
	b.t.Helper()
	first := b.of(page, heading)[0]
	if !valuesOnly.MatchString(first.text) {
		b.t.Fatalf("%s begins with more than values below %q: %s", page, heading, first.text)
	}
	left := maps.Clone(values)
	script := regexp.MustCompile(`\b([A-Z][A-Z0-9_]*)=\S*`).ReplaceAllStringFunc(first.text, func(assignment string) string {
		name, _, _ := strings.Cut(assignment, "=")
		value, known := left[name]
		if !known {
			b.t.Fatalf("%s assigns %s, which the test does not know", page, name)
		}
		delete(left, name)
		return name + "=\"" + value + "\""
	})
	if len(left) != 0 {
		b.t.Fatalf("%s does not assign %v", page, left)
	}
	first.run = true
	b.sh(script)
}

// lines returns the lines of the blocks below a heading that begin with the words.
func (b *book) lines(page, heading, words string) (found []string) {
	b.t.Helper()
	for _, one := range b.of(page, heading) {
		for line := range strings.Lines(one.text) {
			if plain := strings.Join(strings.Fields(line), " "); strings.HasPrefix(plain, words) && !slices.Contains(found, plain) {
				found = append(found, plain)
			}
		}
	}
	return found
}

// headings returns the headings of a page that have blocks.
func (b *book) headings(page string) (found []string) {
	for _, one := range b.pages[page] {
		if len(found) == 0 || found[len(found)-1] != one.heading {
			found = append(found, one.heading)
		}
	}
	return found
}

// contains checks that a file that the commands wrote has a text.
func (b *book) contains(file, want string) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, file))
	if err != nil || !strings.Contains(string(text), want) {
		b.t.Errorf("%s is %s (%v), want %s", file, text, err, want)
	}
}

// finish checks that every block was run, or left out for a reason, and that no process
// logged an error.
func (b *book) finish() {
	b.t.Helper()
	skipped := map[string]bool{}
	for page, blocks := range b.pages {
		numbers := map[string]int{}
		for _, one := range blocks {
			section := page + "#" + one.heading
			numbered := fmt.Sprint(section, "/", numbers[section])
			numbers[section]++
			for _, name := range []string{section, numbered} {
				if leftOut[name] != "" && !one.run {
					skipped[name], one.run = true, true
				}
			}
			if !one.run {
				b.t.Errorf("%s is not run:\n%s", numbered, one.text)
			}
		}
	}
	for name := range leftOut {
		if !skipped[name] {
			b.t.Errorf("%s is left out, and is not there or was run", name)
		}
	}
	b.inSentences()
	for _, log := range logsIn(b.t, filepath.Join(b.dir, "logs")) {
		for line := range strings.Lines(log) {
			if strings.Contains(line, `"level":"ERROR"`) {
				b.t.Errorf("a process logged an error: %s", line)
			}
		}
	}
}

// inSentences checks that a command in a sentence of the runbook is one of its blocks, too,
// so that the test has run it.
func (b *book) inSentences() {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(b.t), runbook))
	if err != nil {
		b.t.Fatal(err)
	}
	run := ""
	for _, one := range b.pages[runbook] {
		run += "\n" + one.text
	}
	for _, m := range regexp.MustCompile("`((?:netsim|psql|curl|openssl|SELECT|UPDATE) [^`]*)`").FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(run, "\n"+m[1]+"\n") {
			b.t.Errorf("the runbook has the command %s in a sentence and not in a block", m[1])
		}
	}
}

// shellBlocks returns the blocks of shell commands of a page, in their order.
func shellBlocks(t *testing.T, file string) (blocks []pageBlock) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	heading := ""
	for _, m := range regexp.MustCompile("(?ms)^## ([^\n]*)$|^( *)```sh\n(.*?)^ *```$").FindAllStringSubmatch(string(text), -1) {
		if m[3] == "" {
			heading = m[1]
			continue
		}
		script := ""
		for line := range strings.Lines(m[3]) {
			script += strings.TrimPrefix(line, m[2])
		}
		blocks = append(blocks, pageBlock{heading: heading, text: script})
	}
	return blocks
}
