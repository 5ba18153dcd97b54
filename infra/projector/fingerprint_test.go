package projector_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"netsim/infra/projector"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// revised is a projection whose fold changed since the last release.
type revised struct{ projector.Projection }

func (r revised) Schema() string { return r.Projection.Schema() + "\n-- revision 2" }

// next is the projector of the next release.
func (s stack) next(t *testing.T, schema string, options ...func(*projector.Config)) *projector.Projector {
	t.Helper()
	return s.Projector(s.Pool(t, schema), schema, append(options, func(c *projector.Config) {
		c.Projections[0] = revised{c.Projections[0]}
	})...)
}

func TestAReadModelOfAnotherReleaseIsRefusedUntilOneIsPromoted(t *testing.T) {
	t.Parallel()
	s := stack{testworld.NewServers(t).Connect(t)}
	before, reader := make(chan error, 1), make(chan error, 1)
	go func() { before <- s.Projector(s.DB, projector.Live).Run(t.Context()) }()
	go func() { reader <- s.Projector(s.DB, projector.Live).Watch(t.Context()) }()
	s.Listen(t)
	id, err := s.createWorkspace(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}

	next := s.next(t, projector.Live)
	for what, run := range map[string]func(context.Context) error{
		"Create": next.Create, "Check": next.Check, "Watch": next.Watch, "Run": next.RunWithoutLock,
	} {
		err := run(t.Context())
		if !errors.Is(err, projector.ErrOtherSchema) {
			t.Errorf("%s: %v, want ErrOtherSchema", what, err)
			continue
		}
		for _, command := range []string{"netsim readmodel rebuild next", "netsim readmodel promote next"} {
			if !strings.Contains(err.Error(), command) {
				t.Errorf("%s: %q does not name %q", what, err, command)
			}
		}
	}

	if _, err := s.next(t, "next").Rebuild(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	promote(t, s.next(t, "next"))
	for what, ended := range map[string]chan error{"projector": before, "reader": reader} {
		select {
		case err := <-ended:
			if !errors.Is(err, projector.ErrOtherSchema) {
				t.Errorf("the %s of the last release ended with %v, want ErrOtherSchema", what, err)
			}
		case <-time.After(testwait.Limit(t)):
			t.Errorf("the %s of the last release goes on", what)
		}
	}
	if err := next.Create(t.Context()); err != nil {
		t.Errorf("after the promotion: %v", err)
	}
	if name := s.name(t, id); name != "kept" {
		t.Errorf("the workspace is called %q", name)
	}
}

func TestADevelopmentReadModelIsToldAgain(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]string{
		"one of another release":        "",
		"one from before forms had one": `COMMENT ON SCHEMA readmodel IS NULL`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stack{testworld.NewServers(t).Connect(t)}
			before, end := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Projector(s.DB, projector.Live).Run(before) }()
			s.Listen(t)
			id, err := s.createWorkspace(t.Context(), "told")
			if err != nil {
				t.Fatal(err)
			}
			end()
			if err := testwait.Receive(t, ended, "it to end"); err != nil {
				t.Fatal(err)
			}
			if _, err := s.DB.Exec(t.Context(), other+`; CREATE TABLE readmodel.leftover ()`); err != nil {
				t.Fatal(err)
			}
			next := s.next(t, projector.Live, func(c *projector.Config) { c.Renew = true })
			if err := next.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			testworld.Running(t, next.Run)
			testworld.Await(t, func() bool {
				var name string
				err := s.DB.QueryRow(t.Context(), `SELECT name FROM readmodel.workspaces WHERE id = $1`, id).Scan(&name)
				return err == nil && name == "told"
			})
			if err := next.Create(t.Context()); err != nil {
				t.Errorf("created twice: %v", err)
			}
			var leftover bool
			err = s.DB.QueryRow(t.Context(), `SELECT to_regclass('readmodel.leftover') IS NOT NULL`).Scan(&leftover)
			if err != nil || leftover {
				t.Errorf("the old schema is still there: %t, %v", leftover, err)
			}
		})
	}
}

// asked counts how often its statements are read.
type asked struct {
	column
	times *int
}

func (a asked) Schema() string {
	*a.times++
	return a.column.Schema()
}

// TestFingerprintIsMadeOnce: the checks of a running projector do not digest its statements.
func TestFingerprintIsMadeOnce(t *testing.T) {
	t.Parallel()
	times := 0
	p := projector.New(projector.Config{Projections: []projector.Projection{asked{column{"f"}, &times}}})
	if first, again := p.Fingerprint(), p.Fingerprint(); first != again || times != 1 {
		t.Errorf("the fingerprints are %s and %s, and the statements were read %d times, want once", first, again, times)
	}
}
