package service_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
	"netsim/infra/replicas"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// session is a client that keeps what it was told: the newest version of each workspace
// that a reply to a write or a read has shown, and the tokens of its last replies.
type session struct {
	id     int
	known  map[string]version // by path
	tokens []string           // the last ones
	wrong  []string
}

type version struct {
	number int
	name   string
}

// send returns the request header.
func (s *session) send() servicetest.Header {
	return servicetest.Header{Name: replicas.Header, Value: strings.Join(s.tokens, ", ")}
}

// wrote keeps the token of a write, which covers this write alone.
func (s *session) wrote(r servicetest.Reply) {
	s.tokens = append(s.tokens, r.Header.Get(replicas.Header))
}

// showed keeps the token of a read, which covers those that the request sent.
func (s *session) showed(path string, r servicetest.Reply) {
	token := r.Header.Get(replicas.Header)
	if token == "" {
		s.wrong = append(s.wrong, fmt.Sprintf("client %d: %s answers %d %s without a token", s.id, path, r.Status, r.Body))
		return
	}
	s.tokens = []string{token}
}

// saw checks what a reply shows of a workspace, and keeps it.
func (s *session) saw(path string, r servicetest.Reply) {
	var now version
	if r.Status == http.StatusOK || r.Status == http.StatusCreated {
		if _, err := fmt.Sscanf(r.Header.Get("ETag"), `"%d"`, &now.number); err != nil {
			s.wrong = append(s.wrong, fmt.Sprintf("client %d: %s has the ETag %q", s.id, path, r.Header.Get("ETag")))
		}
		now.name, _ = r.Object()["name"].(string)
	}
	switch before := s.known[path]; {
	case now.number < before.number:
		s.wrong = append(s.wrong, fmt.Sprintf("client %d: %s went back from version %d to %d (status %d)", s.id, path, before.number, now.number, r.Status))
	case now.number == before.number && now.name != before.name:
		s.wrong = append(s.wrong, fmt.Sprintf("client %d: version %d of %s is %q and %q", s.id, now.number, path, before.name, now.name))
	default:
		s.known[path] = now
	}
}

// TestSessionsNeverGoBack: clients write to one deployment and read from it, from its
// standby and from a deployment with a database of its own, while the standby and the other
// database are behind again and again. No client misses what a reply has told it, although
// each reads from another database than before.
//
// NETSIM_TEST_SESSIONS sets the number of operations of a client, and NETSIM_TEST_SEED the
// random seed.
func TestSessionsNeverGoBack(t *testing.T) {
	t.Parallel()
	const clients = 6
	steps, seed := servicetest.Number(t, "NETSIM_TEST_SESSIONS", 60), uint64(servicetest.Number(t, "NETSIM_TEST_SEED", 1))
	w := newTwoDatabases(t)
	account := servicetest.NewAccount()
	here, there := w.here.Service(t, account), w.there.Service(t, account)
	var paths []string
	for i := range 4 {
		paths = append(paths, here.Post("/api/v1/workspaces", map[string]any{"name": fmt.Sprint("w", i)}).Want(201).Header.Get("Location"))
	}
	var done, behind, running atomic.Int64
	running.Store(clients)
	ended := make(chan struct{})
	sessions := make([]*session, clients)
	for i := range sessions {
		s := &session{id: i, known: map[string]version{}, tokens: []string{replicas.Any}}
		sessions[i] = s
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		go func() {
			defer func() {
				if running.Add(-1) == 0 {
					close(ended)
				}
			}()
			for n := range steps {
				path := paths[random.IntN(len(paths))]
				switch write := random.IntN(4) == 0 && len(s.tokens) < 16; {
				case write:
					r := here.Patch(path, map[string]any{"name": fmt.Sprintf("client %d step %d", i, n)})
					if r.Status == http.StatusServiceUnavailable { // its outcome is not known yet
						continue
					}
					if r.Status != http.StatusOK {
						s.wrong = append(s.wrong, fmt.Sprintf("client %d: a write answers %d %s", i, r.Status, r.Body))
						continue
					}
					s.saw(path, r)
					if s.tokens[0] == replicas.Any {
						s.tokens = nil
					}
					s.wrote(r)
				default:
					from := here
					if random.IntN(2) == 0 {
						from = there
					}
					r := from.Get(path, s.send())
					if r.Status == http.StatusServiceUnavailable || r.Status == http.StatusGatewayTimeout {
						behind.Add(1)
						continue
					}
					s.saw(path, r)
					s.showed(path, r)
				}
				done.Add(1)
			}
		}()
	}
	w.disturb(t, rand.New(rand.NewPCG(seed, clients)), &done, ended)
	testwait.Receive(t, ended, "the clients")
	var wrong []string
	for _, s := range sessions {
		wrong = append(wrong, s.wrong...)
	}
	if len(wrong) > 0 {
		t.Errorf("%d answers are wrong, such as:\n%s", len(wrong), strings.Join(wrong[:min(10, len(wrong))], "\n"))
	}
	t.Logf("%d operations, %d reads were refused because a database was behind; standby %v, primary %v", done.Load(), behind.Load(),
		w.here.Metric(t, `netsim_token_reads_total{source="standby"}`), w.here.Metric(t, `netsim_token_reads_total{source="primary"}`))
}

// TestASessionWithoutTokensGoesBack: without tokens a client does go back, when it reads
// from a standby that is behind, and from another database that is behind. The checks of a
// session notice both.
func TestASessionWithoutTokensGoesBack(t *testing.T) {
	t.Parallel()
	w := newTwoDatabases(t)
	account := servicetest.NewAccount()
	here, there := w.here.Service(t, account), w.there.Service(t, account)
	made := here.Post("/api/v1/workspaces", map[string]any{"name": "one"}).Want(201)
	path := made.Header.Get("Location")
	for name, from := range map[string]*servicetest.Client{"standby": here, "region": there} {
		from.Eventually(path, func(r servicetest.Reply) bool { return r.Status == 200 })
		w.standby.CatchUp(w.primary)
		w.standby.Pause()
		release := w.hold(t)
		s := &session{known: map[string]version{}}
		s.saw(path, here.Patch(path, map[string]any{"name": "changed for " + name}).Want(200))
		testworld.Await(t, func() bool {
			s.saw(path, from.Get(path, servicetest.Header{Name: replicas.Header, Value: replicas.Any}))
			return len(s.wrong) > 0
		})
		release()
		w.standby.Resume()
	}
}

// twoDatabases is a deployment with a standby, and one that only reads, on the same log.
type twoDatabases struct {
	here, there *servicetest.Program
	primary     *teststack.Process
	standby     teststack.Standby
}

func newTwoDatabases(t *testing.T) *twoDatabases {
	t.Helper()
	w := &twoDatabases{primary: teststack.Start(t, "postgres", t.TempDir(), "--replicas", "--no-sync")}
	w.standby = teststack.StartStandby(t, w.primary, t.TempDir(), "--no-sync")
	w.here = servicetest.StartLogged(t, slog.New(slog.DiscardHandler), func(c *settings.Config) {
		c.Postgres, c.Standbys, c.StandbyMaxLag, c.StandbyWait = w.primary.URL, w.standby.URL, time.Hour, 10*time.Millisecond
		c.TokenTimeout = 50 * time.Millisecond
	})
	w.there = startRegion(t, w.here)
	testworld.Await(t, func() bool { return w.here.Metric(t, `netsim_standby_used{standby="0"}`) == 1 })
	return w
}

// hold stops the projecting of the other database until release is called. Reads go on.
func (w *twoDatabases) hold(t *testing.T) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.there.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE readmodel.offsets IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := conn.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

// disturb makes the standby and the other database stand still and go on in turns, each
// for a number of operations, until ended is closed.
func (w *twoDatabases) disturb(t *testing.T, random *rand.Rand, done *atomic.Int64, ended <-chan struct{}) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	after := func(operations int64) (over bool) {
		for until := done.Load() + operations; done.Load() < until; {
			select {
			case <-ended:
				return true
			case <-tick.C:
			}
		}
		return false
	}
	for over := false; !over; {
		w.standby.Pause()
		release := w.hold(t)
		over = after(1 + random.Int64N(20))
		w.standby.Resume()
		over = after(1+random.Int64N(20)) || over
		release()
		over = after(1+random.Int64N(20)) || over
	}
}
