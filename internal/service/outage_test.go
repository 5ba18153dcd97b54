package service_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// beginning is a service that starts.
type beginning struct {
	t       *testing.T
	ops     string
	log     *lines
	outcome chan error // nil when it serves, and then the result of Run
	end     context.CancelFunc
}

// begin starts a service and does not wait for it.
func begin(t *testing.T, c settings.Config) *beginning {
	t.Helper()
	c.Ops = teststack.FreeAddress(t)
	ctx, end := context.WithCancel(t.Context())
	b := &beginning{t: t, ops: c.Ops, log: &lines{}, outcome: make(chan error, 2), end: end}
	go func() {
		b.outcome <- service.Run(ctx, c, slog.New(slog.NewTextHandler(b.log, nil)), func(service.Started) { b.outcome <- nil })
	}()
	return b
}

// waits returns when /readyz says that the start waits for a server, and why.
func (b *beginning) waits(why string) {
	b.t.Helper()
	testworld.Await(b.t, func() bool {
		select {
		case err := <-b.outcome:
			b.t.Fatalf("the service ended, or served, while a server did not answer: %v", err)
		default:
		}
		status, said := ready(b.t, b.ops)
		return status == http.StatusServiceUnavailable && strings.Contains(said, "the start waits for a server: ") && strings.Contains(said, why)
	})
	reply, err := http.Get("http://" + b.ops + "/livez")
	if err != nil {
		b.t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		b.t.Errorf("/livez answers %s while the start waits, want 200", reply.Status)
	}
}

// serves waits until the service serves, and ends it. Its log names one outage.
func (b *beginning) serves() {
	b.t.Helper()
	if err := testwait.Receive(b.t, b.outcome, "the service to serve"); err != nil {
		b.t.Fatalf("the service ended while it started: %v", err)
	}
	for _, line := range []string{"a server does not answer; the start waits for it", "the server answers; the start goes on"} {
		if n := b.log.count(line); n != 1 {
			b.t.Errorf("the log has the line %q %d times, want once", line, n)
		}
	}
	b.ends()
}

// ends asks the service to end, which is not an error.
func (b *beginning) ends() {
	b.t.Helper()
	b.end()
	if err := testwait.Receive(b.t, b.outcome, "the service to end"); err != nil {
		b.t.Errorf("the service ended with %v, want nil", err)
	}
}

// TestAStartOutlastsAnOutage: a service that starts while PostgreSQL, the broker or the
// object store is down is alive and not ready, says why, and serves once the server is back.
func TestAStartOutlastsAnOutage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		down func(*testing.T, *settings.Config) (back func())
		why  string
	}{
		"PostgreSQL": {func(t *testing.T, c *settings.Config) func() {
			server := teststack.Start(t, "postgres", t.TempDir())
			c.Postgres = server.URL
			server.Kill()
			return server.Restart
		}, "no PostgreSQL answers"},
		"broker": {func(t *testing.T, c *settings.Config) func() {
			server := teststack.Start(t, teststack.BrokerPart(), t.TempDir())
			c.Kafka = []string{server.Addr}
			server.Kill()
			return server.Restart
		}, "no Kafka broker answers"},
		"object store": {func(t *testing.T, c *settings.Config) func() {
			store, err := url.Parse(c.S3Endpoint)
			if err != nil {
				t.Fatal(err)
			}
			proxy := teststack.NewProxy(t, store.Host)
			c.S3Endpoint = "http://" + proxy.Addr
			proxy.Refuse()
			return proxy.Heal
		}, "check bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := servicetest.Config(t)
			back := test.down(t, &c)
			b := begin(t, c)
			b.waits(test.why)
			back()
			b.serves()
		})
	}
}

// TestAStartOutlastsACrash: PostgreSQL crashes while a service waits for the answer to a
// statement, near the end of its start.
func TestAStartOutlastsACrash(t *testing.T) {
	t.Parallel()
	server := teststack.Start(t, "postgres", t.TempDir())
	c := servicetest.Config(t)
	c.Postgres = server.URL
	first := begin(t, c)
	if err := testwait.Receive(t, first.outcome, "the service to serve"); err != nil {
		t.Fatal(err)
	}
	first.ends()

	conn, err := pgx.Connect(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // its server has crashed
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE netsim.cursor_keys`); err != nil {
		t.Fatal(err)
	}
	b := begin(t, c)
	testworld.Await(t, func() (blocked bool) {
		err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'netsim.cursor_keys'::regclass AND NOT granted)`).Scan(&blocked)
		if err != nil {
			t.Fatal(err)
		}
		return blocked
	})
	server.Kill()
	b.waits("")
	server.Restart()
	b.serves()
}

// TestAStartThatIsRefusedEnds: what waiting cannot mend ends a start at once.
func TestAStartThatIsRefusedEnds(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	u, err := url.Parse(c.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/nowhere"
	c.Postgres = u.String()
	b := begin(t, c)
	err = testwait.Receive(t, b.outcome, "the service to end")
	if want := `database "nowhere" does not exist`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the service ended with %v, want an error with %q", err, want)
	}
	if b.log.contain("the start waits") {
		t.Error("the start waited for a database that does not exist")
	}
}

// TestAStartWaitsForABoundedTime: after NETSIM_START_TIMEOUT the service ends with the
// reason. When it is asked to end earlier, it ends without an error.
func TestAStartWaitsForABoundedTime(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	c.Postgres = "postgres://netsim@" + teststack.FreeAddress(t) + "/netsim"
	b := begin(t, c)
	b.waits("connection refused")
	b.ends()

	c.StartTimeout = time.Nanosecond
	err := testwait.Receive(t, begin(t, c).outcome, "the service to end")
	for _, want := range []string{"NETSIM_START_TIMEOUT", "no PostgreSQL answers", "connection refused"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the service ended with %v, want an error with %q", err, want)
		}
	}
}
