// Package client has the commands of netsim for those who use a service: logins and profiles,
// simulations, studies, traces, configurations, bills and events. They reach the service
// through the Go SDK (sdk/go) only, so they do nothing that another client could not do.
//
// A command makes one [answer], which is printed as a text for people or, with --json, as
// JSON with nothing else on standard output. What an error means for a script is in its exit
// code ([ExitCode]).
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/term"

	netsim "netsim/sdk/go"
)

// Commands are the commands for users. A program embeds them in its own.
type Commands struct {
	Login    login    `cmd:"" help:"Log in to a service, or store a token for it."`
	Logout   logout   `cmd:"" help:"Forget the tokens of a profile."`
	Profile  profiles `cmd:"" help:"Show and choose the services that you use."`
	Sim      sims     `cmd:"" help:"Submit, watch and explain simulations."`
	Study    studies  `cmd:"" help:"Start studies, and show what they found."`
	Config   configs  `cmd:"" help:"Show, compare, copy, validate and edit configurations."`
	Trace    traces   `cmd:"" help:"Upload traces."`
	Bill     bills    `cmd:"" help:"Show, explain and verify what your account is billed."`
	Feed     feed     `cmd:"" help:"Follow the events that you may see, one a line."`
	Webhooks hooks    `cmd:"" help:"Develop a receiver of webhooks."`
}

// Terminal is what a command sees of the machine that it runs on. Kong binds it.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Home     string // the directory of the profiles and their tokens
	Columns  int    // the width of Out, 0 if it is no terminal
	Live     bool   // Err is a terminal: progress is shown there

	Browse func(url string) error                    // opens a page
	Edit   func(ctx context.Context, p string) error // has the user edit a file
}

// System returns the terminal of this process.
func System() *Terminal {
	t := &Terminal{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now,
		Live: term.IsTerminal(int(os.Stderr.Fd())), Browse: browse, Edit: edit,
	}
	if home, err := os.UserConfigDir(); err == nil {
		t.Home = filepath.Join(home, "netsim")
	}
	if columns, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		t.Columns = columns
	}
	return t
}

func browse(url string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	return exec.Command(program, url).Start() //nolint:noctx // the browser outlives the command
}

// edit runs the editor of the user, which may have arguments of its own.
func edit(ctx context.Context, path string) error {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	words := strings.Fields(editor)
	if len(words) == 0 {
		return errors.New("EDITOR is not set: name the editor to use")
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], path)...) //nolint:gosec // the user's own editor
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", editor, err)
	}
	return nil
}

// options are those of every command that asks a service.
type options struct {
	output
	Profile string        `placeholder:"NAME" predictor:"profile" help:"The profile to use. When absent: that of NETSIM_PROFILE, or the service of NETSIM_URL with the token of NETSIM_TOKEN, or the current profile."`
	Timeout time.Duration `placeholder:"DURATION" help:"End after this time with the exit code 124."`
}

// Validate implements kong.Validatable.
func (o options) Validate() error {
	if o.Timeout < 0 {
		return errors.New("--timeout must be above zero")
	}
	return o.output.Validate()
}

// session is what a command works with.
type session struct {
	*netsim.Client
	*Terminal
	output
}

// ask runs do with a client of the profile's service, and prints its answer.
func (o options) ask(ctx context.Context, t *Terminal, do func(context.Context, *session) (answer, error)) error {
	return o.run(ctx, t, func(ctx context.Context, s *session) error {
		a, err := do(ctx, s)
		if err != nil {
			return err
		}
		return o.print(t, a)
	})
}

// run runs do with a client of the profile's service, in the time of --timeout.
func (o options) run(ctx context.Context, t *Terminal, do func(context.Context, *session) error) error {
	p, err := t.resolve(o.Profile)
	if err != nil {
		return err
	}
	c, err := netsim.New(netsim.Config{URL: p.URL, Tokens: p.tokens(t, http.DefaultClient)})
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if o.Timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, o.Timeout, errTimeout)
		defer cancel()
		ctx = limited
	}
	err = do(ctx, &session{c, t, o.output})
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return fmt.Errorf("%w of %s has passed", errTimeout, o.Timeout)
	}
	return err
}
