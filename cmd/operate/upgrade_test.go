package operate_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/operate"
	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/doctor"
	"netsim/infra/projector"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// TestANewDeploymentBeginsAtItsRelease: without a read model and with an empty log, a
// deployment is at the level of its release as soon as it serves, and its read model is
// marked. With records in the log, a database that was lost begins at level 1, and is
// raised when it has read an event that only a later level permits.
func TestANewDeploymentBeginsAtItsRelease(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, servicetest.OnEmptyDatabase(t))
	if s, err := openTools(t, p.Config).Upgrade(t.Context()); err != nil || s.Level != events.Level || s.RaisedAt == nil {
		t.Errorf("the status is %+v, %v; want level %d", s, err, events.Level)
	}
	if level := markOf(t, p.Config, projector.Live); level != events.Level {
		t.Errorf("the read model is marked with level %d, want %d", level, events.Level)
	}
	if r := examined(t, p.Config, time.Now)["postgres, level"]; r.Status != doctor.OK {
		t.Errorf("the row of the level is %+v, want ok", r)
	}

	lost := p.Config
	lost.Postgres = teststack.Postgres(t)
	if err := service.Migrate(t.Context(), lost, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	tools := openTools(t, lost)
	rebuilt(t, tools, "before")
	if s, err := tools.Upgrade(t.Context()); err != nil || s.Level != events.FirstLevel {
		t.Errorf("with another database the status is %+v, %v; want level 1", s, err)
	}
	if r := examined(t, lost, time.Now)["postgres, level"]; r.Status != doctor.Warn || !strings.Contains(r.Advice, "netsim upgrade finish") {
		t.Errorf("at level 1 the row of the level is %+v, want what to run", r)
	}
	checkpoints := commands.CheckpointStream(p.Config.Platform)
	testworld.In(t, p.Beside(t), checkpoints, checkpoints, recordMove{})
	rebuilt(t, tools, "after")
	if s, err := tools.Upgrade(t.Context()); err != nil || s.Level != events.Level {
		t.Errorf("after an event of level %d the status is %+v, %v", events.Level, s, err)
	}
	for _, schema := range []string{projector.Live, "before", "after"} {
		if level := markOf(t, lost, schema); level != events.Level {
			t.Errorf("%s is marked with level %d, want %d", schema, level, events.Level)
		}
	}
}

// recordMove appends an event of level 2.
type recordMove struct{}

func (recordMove) Decide(*commands.Checkpoints, time.Time) (events.Data, error) {
	return events.LogMoved{Reason: "a test"}, nil
}

// withoutLevels makes a deployment as a release without levels leaves it.
func withoutLevels(t *testing.T, c settings.Config) {
	t.Helper()
	if err := service.Migrate(t.Context(), c, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	execute(t, c.Postgres, `DELETE FROM netsim.release_level`)
	setMark(t, c, projector.Live, "")
}

// TestTheLevelIsRaised: the level is not raised while a session of a release without levels
// exists, and then is, once, while the service runs. Every read model is marked, and one
// that is made later too. A later level ends the service, and it does not start again.
func TestTheLevelIsRaised(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	withoutLevels(t, c)
	ended := make(chan error, 1)
	started := make(chan service.Started, 1)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go func() {
		ended <- service.Run(ctx, c, slog.New(slog.DiscardHandler), func(s service.Started) { started <- s })
	}()
	at := testwait.Receive(t, started, "the service to start")
	p := &servicetest.Program{URL: "http://" + at.HTTP, Ops: "http://" + at.Ops, Config: c}
	client := p.Service(t, servicetest.NewAccount())
	tools := openTools(t, c)
	rebuilt(t, tools, "before")

	old, err := pgx.Connect(t.Context(), c.Postgres+sessionName(c.Postgres, "netsim"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tools.FinishUpgrade(t.Context()); err == nil || !strings.Contains(err.Error(), "processes of an older release run: 1 sessions of a release without levels; stop them first") {
		t.Errorf("beside an older release: %v, want a refusal", err)
	}
	if s, err := tools.Upgrade(t.Context()); err != nil || s.Level != events.FirstLevel || len(s.Members) != 2 {
		t.Errorf("the status is %+v, %v; want level 1, the service and the older release", s, err)
	}
	if err := old.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	testworld.Await(t, func() bool {
		s, err := tools.Upgrade(t.Context())
		return err == nil && len(s.Members) == 1
	})
	for i, want := range []int{events.FirstLevel, events.Level} { // the second time nothing is left to do
		before, err := tools.FinishUpgrade(t.Context())
		if err != nil || before.Level != int64(want) {
			t.Errorf("raise %d: %v, from level %d, want %d", i+1, err, before.Level, want)
		}
	}
	rebuilt(t, openTools(t, c), "after")
	for _, schema := range []string{projector.Live, "before", "after"} {
		if level := markOf(t, c, schema); level != events.Level {
			t.Errorf("%s is marked with level %d, want %d", schema, level, events.Level)
		}
	}
	client.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(http.StatusCreated)

	execute(t, c.Postgres, fmt.Sprintf(`UPDATE netsim.release_level SET level = %d`, events.Level+1))
	want := fmt.Sprintf("the deployment is of a newer release: it is at level %d, this release knows levels up to %d; start the newer release again", events.Level+1, events.Level)
	if err := testwait.Receive(t, ended, "the service to end"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the running service ended with %v, want %q", err, want)
	}
	if err := service.Run(t.Context(), c, slog.New(slog.DiscardHandler), nil); err == nil || err.Error() != want {
		t.Errorf("the service started again ends with %v, want %q", err, want)
	}
	if _, err := operate.OpenTools(t.Context(), c, slog.New(slog.DiscardHandler)); err == nil || err.Error() != want {
		t.Errorf("the tools say %v, want %q", err, want)
	}
}

// TestTheReadModelOfANewerLevelIsKept: a process that finds only the mark of a newer level,
// as in a restored database, is refused, also in development, where it replaces read models
// of other releases. It takes no lease.
func TestTheReadModelOfANewerLevelIsKept(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	if err := service.Migrate(t.Context(), c, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	setMark(t, c, projector.Live, ", level 99")
	for _, development := range []bool{true, false} {
		again := c
		again.Migrate = development
		if err := service.Run(t.Context(), again, slog.New(slog.DiscardHandler), nil); err == nil || !strings.Contains(err.Error(), "it is at level 99") {
			t.Errorf("with Migrate %t: %v, want a refusal", development, err)
		}
	}
	if level := markOf(t, c, projector.Live); level != 99 {
		t.Errorf("the read model is marked with level %d, want 99", level)
	}
	var members int
	queryRow(t, c, `SELECT (SELECT count(*) FROM facts.members) + (SELECT count(*) FROM facts.leases WHERE holder <> '')`, &members)
	if members != 0 {
		t.Errorf("there are %d members and leases, want none", members)
	}
}

// TestTheNextReleaseWaitsForItsReadModel: while the live read model is of another release, a
// process starts only if one of its own is beside it. It is not ready before that is
// promoted, and then shows what was written before.
func TestTheNextReleaseWaitsForItsReadModel(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	run := func(c settings.Config) (started chan service.Started, ended chan error) {
		started, ended = make(chan service.Started, 1), make(chan error, 1)
		go func() {
			ended <- service.Run(ctx, c, slog.New(slog.DiscardHandler), func(s service.Started) { started <- s })
		}()
		return started, ended
	}
	started, ended := run(c)
	at := testwait.Receive(t, started, "the service to start")
	p := &servicetest.Program{URL: "http://" + at.HTTP, Ops: "http://" + at.Ops, Config: c}
	account := servicetest.NewAccount()
	id := p.Service(t, account).Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(http.StatusCreated).Object()["id"].(string)
	setMark(t, c, projector.Live, " of another release")
	if err := testwait.Receive(t, ended, "the service to end"); err == nil || !strings.Contains(err.Error(), "made by another release") {
		t.Errorf("the service ended with %v, want that the read model is of another release", err)
	}
	c.Migrate = false // in development a projector would replace the read model
	if err := service.Run(t.Context(), c, slog.New(slog.DiscardHandler), nil); err == nil || !strings.Contains(err.Error(), "netsim readmodel rebuild next") {
		t.Errorf("without a read model of its own the service ends with %v, want what to run", err)
	}
	tools := openTools(t, c)
	rebuilt(t, tools, "next")
	c.Ops = teststack.FreeAddress(t)
	started, ended = run(c)
	testworld.Await(t, func() bool {
		status, said := servicetest.Ready(t, c.Ops)
		return status == http.StatusServiceUnavailable && strings.Contains(said, "the promotion of the one of this release")
	})
	if _, err := tools.Promote(t.Context(), "next", func(projector.Step, string) {}); err != nil {
		t.Fatal(err)
	}
	at = testwait.Receive(t, started, "the service to start after the promotion")
	p.URL = "http://" + at.HTTP
	p.Service(t, account).Get("/api/v1/workspaces/" + id).Want(http.StatusOK)
	end()
	if err := testwait.Receive(t, ended, "the service to end"); err != nil {
		t.Errorf("the service ended with %v, want nil", err)
	}
}

func openTools(t *testing.T, c settings.Config) *operate.Tools {
	t.Helper()
	tools, err := operate.OpenTools(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tools.Close)
	return tools
}

// rebuilt makes a read model beside the live one.
func rebuilt(t *testing.T, tools *operate.Tools, schema string) {
	t.Helper()
	if _, err := tools.Rebuild(t.Context(), schema, false, "", func(projector.Report) {}); err != nil {
		t.Fatal(err)
	}
}

// setMark replaces what follows the fingerprint in the mark of a read model.
func setMark(t *testing.T, c settings.Config, schema, text string) {
	t.Helper()
	var comment string
	queryRow(t, c, `SELECT obj_description('`+schema+`'::regnamespace)`, &comment)
	fingerprint, _ := projector.ReadMark(comment)
	execute(t, c.Postgres, fmt.Sprintf(`COMMENT ON SCHEMA %s IS '%s'`, schema, fingerprint+text))
}

// markOf returns the level in the mark of a read model.
func markOf(t *testing.T, c settings.Config, schema string) (level int) {
	t.Helper()
	var comment string
	queryRow(t, c, `SELECT obj_description('`+schema+`'::regnamespace)`, &comment)
	_, level = projector.ReadMark(comment)
	return level
}

func queryRow(t *testing.T, c settings.Config, sql string, into any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // it only read
	if err := conn.QueryRow(t.Context(), sql).Scan(into); err != nil {
		t.Fatal(err)
	}
}

// sessionName returns what to append to the URL of a database to name the session.
func sessionName(url, name string) string {
	if strings.Contains(url, "?") {
		return "&application_name=" + name
	}
	return "?application_name=" + name
}

func execute(t *testing.T, database, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // the statements have ended
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
