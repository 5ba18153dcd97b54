package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"netsim/cmd/client"
)

// machine is a user's machine: the commands run in it like in a terminal of its own.
type machine struct {
	client.Terminal
	t   *testing.T
	env map[string]string
	err output
}

// output is what a command has written so far.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written func() // if not nil
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.written != nil {
		defer o.written()
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// newMachine returns a machine without profiles, whose environment has the pairs.
func newMachine(t *testing.T, pairs ...string) *machine {
	t.Helper()
	m := &machine{t: t, env: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		m.env[pairs[i]] = pairs[i+1]
	}
	m.Home, m.Err, m.In = t.TempDir(), &m.err, strings.NewReader("")
	m.Now = time.Now
	m.Getenv = func(name string) string { return m.env[name] }
	m.Browse = func(string) error { return errors.New("there is no browser") }
	return m
}

// run runs a command line and returns its standard output and its exit code, and the error
// that a user would see.
func (m *machine) run(args ...string) (stdout string, code int, said string) {
	m.t.Helper()
	return m.until(m.t.Context(), func() {}, args...)
}

// until is run of a command that the context ends; written is called when it has written.
func (m *machine) until(ctx context.Context, written func(), args ...string) (stdout string, code int, said string) {
	m.t.Helper()
	out := output{written: written}
	terminal := m.Terminal
	terminal.Out = &out
	parser, err := kong.New(&client.Commands{}, kong.Name("netsim"), kong.Bind(&terminal), kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Exit(func(int) { m.t.Errorf("netsim %v ended the process", args) }), kong.Writers(&out, m.Err))
	if err != nil {
		m.t.Fatal(err)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return out.String(), client.ExitUsage, err.Error()
	}
	if err = parsed.Run(); err != nil {
		said = err.Error()
	}
	return out.String(), client.ExitCode(err), said
}

// wants runs a command that must succeed, and returns its standard output.
func (m *machine) wants(args ...string) string {
	m.t.Helper()
	out, code, said := m.run(args...)
	if code != 0 {
		m.t.Fatalf("netsim %s: exit %d: %s\n%s", strings.Join(args, " "), code, said, out)
	}
	return out
}

// fails runs a command that must end with a code, and with words in its error.
func (m *machine) fails(code int, words string, args ...string) {
	m.t.Helper()
	out, got, said := m.run(args...)
	if got != code || !strings.Contains(said, words) {
		m.t.Errorf("netsim %s: exit %d: %s; want %d with %q\n%s", strings.Join(args, " "), got, said, code, words, out)
	}
}

// values decodes standard output, which must be JSON and nothing else.
func values(t *testing.T, stdout string) (all []any) {
	t.Helper()
	for decoder := json.NewDecoder(strings.NewReader(stdout)); ; {
		var value any
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("standard output is not JSON: %v\n%s", err, stdout)
		}
		all = append(all, value)
	}
}
