//go:build upgrade

package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/infra/wait"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// load is clients that create, rename and read workspaces, list them page by page, and
// submit simulations, each step through a process that may be of another release.
type load struct {
	*upgrade
	token   string // for workspaces
	runner  string // for simulations, of another account: credit is held on the account's stream, on which each workspace is metered
	all     sync.WaitGroup
	done    chan struct{}
	acks    atomic.Int64
	retried atomic.Int64
	pages   atomic.Int64
	ending  atomic.Bool // processes are ending by themselves: what fails is repeated
	mu      sync.Mutex
	names   map[string]string // of workspaces, by id
	runs    []string          // simulations
}

func (u *upgrade) load(clients int) *load {
	l := &load{upgrade: u, done: make(chan struct{}), names: map[string]string{}}
	l.token = teststack.Issuer(u.t).Token(devissuer.Options{Service: true, User: "writer", Account: "acct_0000000000e008000000000001"})
	account := servicetest.NewAccount()
	u.tool("credit", "grant", account, "1000000", "--reference", "load")
	l.runner = teststack.Issuer(u.t).Token(devissuer.Options{Service: true, User: "runner", Account: account})
	began := events.NewID("load")
	for n := range clients {
		l.all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-l.done:
					return
				default:
					l.journey(fmt.Sprintf("%s-%d-%d", began, n, i), i)
				}
			}
		})
	}
	return l
}

// journey is what a client does: each request goes to the next process.
func (l *load) journey(name string, turn int) {
	var made struct{ ID string }
	token := l.send(turn, http.MethodPost, "/api/v1/workspaces", name, map[string]any{"name": name}, http.StatusCreated, &made, "")
	if made.ID == "" {
		return // reported
	}
	path := "/api/v1/workspaces/" + made.ID
	renamed := name + " renamed"
	token = l.send(turn+1, http.MethodPatch, path, name+"-rename", map[string]any{"name": renamed}, http.StatusOK, nil, token)
	for i := range 2 { // without and with the token of the write, through two processes
		var read struct{ Name string }
		l.send(turn+i, http.MethodGet, path, "", nil, http.StatusOK, &read, []string{"", token}[i])
		if read.Name != renamed {
			l.t.Errorf("the acknowledged name %q of %s is read as %q", renamed, made.ID, read.Name)
		}
	}
	if turn%8 == 0 {
		l.list(turn)
	}
	if turn%64 == 0 {
		var run struct{ SimulationID string }
		l.send(turn, http.MethodPost, "/api/v1/simple/simulations", name+"-run", servicetest.SimpleSubmission(8), http.StatusAccepted, &run, "")
		l.mu.Lock()
		l.runs = append(l.runs, run.SimulationID)
		l.mu.Unlock()
	}
	l.mu.Lock()
	l.names[made.ID] = renamed
	l.mu.Unlock()
	l.acks.Add(1)
}

// list reads three pages, each through another process: a cursor of one release goes on at
// the other.
func (l *load) list(turn int) {
	cursor := ""
	for i := range 3 {
		path := "/api/v1/workspaces?limit=1"
		if cursor != "" {
			path += "&next=" + cursor
		}
		var page struct{ Pagination struct{ NextCursor string } }
		l.send(turn+i, http.MethodGet, path, "", nil, http.StatusOK, &page, "")
		if cursor = page.Pagination.NextCursor; cursor == "" {
			return
		}
		l.pages.Add(1)
	}
}

// send sends a request until it is answered with the status. It returns the reply's
// Consistency-Token. A reply of 429 or 503 with Retry-After is repeated, with the same
// Idempotency-Key; anything else fails the test.
func (l *load) send(turn int, method, path, key string, body any, want int, into any, token string) string {
	content, err := json.Marshal(body)
	if err != nil {
		l.t.Error(err)
		return ""
	}
	for attempt := 0; ; attempt++ {
		ending := l.ending.Load()
		fronts := l.fronts()
		if len(fronts) == 0 || ending && attempt > 0 {
			if wait.For(l.t.Context(), 50*time.Millisecond) != nil {
				return ""
			}
			if len(fronts) == 0 {
				continue
			}
		}
		front := fronts[(turn+attempt)%len(fronts)]
		var reader io.Reader
		if body != nil {
			reader = bytes.NewReader(content)
		}
		r, err := http.NewRequestWithContext(context.WithoutCancel(l.t.Context()), method, front.url+path, reader)
		if err != nil {
			l.t.Error(err)
			return ""
		}
		r.Header.Set("Authorization", "Bearer "+l.token)
		if strings.Contains(path, "/simulations") {
			r.Header.Set("Authorization", "Bearer "+l.runner)
		}
		r.Header.Set("Content-Type", "application/json")
		if key != "" {
			r.Header.Set("Idempotency-Key", strings.ReplaceAll(key, " ", "-"))
		}
		if token != "" {
			r.Header.Set("Consistency-Token", token)
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			if l.stillRouted(front) && !ending && !l.ending.Load() {
				l.t.Errorf("%s %s: %v", method, path, err)
				return ""
			}
			l.retried.Add(1) // the connection of a process that was just taken out of the routing
			continue
		}
		answer, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		switch {
		case err == nil && reply.StatusCode == want:
			if into != nil {
				if err := json.Unmarshal(answer, into); err != nil {
					l.t.Errorf("%s %s: %v", method, path, err)
				}
			}
			return reply.Header.Get("Consistency-Token")
		case err == nil && (reply.StatusCode == http.StatusServiceUnavailable || reply.StatusCode == http.StatusTooManyRequests) && reply.Header.Get("Retry-After") != "":
			l.retried.Add(1)
		case (ending || l.ending.Load()) && (err != nil || reply.StatusCode >= http.StatusInternalServerError):
			l.retried.Add(1)
		default:
			l.t.Errorf("%s %s is answered with %d (%v), want %d or what can be repeated: %s", method, path, reply.StatusCode, err, want, answer)
			return ""
		}
	}
}

func (l *load) stillRouted(p *deployment) bool {
	for _, front := range l.fronts() {
		if front == p {
			return true
		}
	}
	return false
}

// progress waits until n more journeys have ended.
func (l *load) progress(n int64) {
	l.t.Helper()
	want := l.acks.Load() + n
	testworld.Await(l.t, func() bool { return l.acks.Load() >= want })
}

// check stops the clients, and verifies that everything acknowledged is present once and
// that every simulation ends.
func (l *load) check() {
	l.t.Helper()
	close(l.done)
	testwait.Group(l.t, &l.all, "the clients")
	if l.pages.Load() == 0 {
		l.t.Error("no list was continued with a cursor")
	}
	l.t.Logf("%d journeys, %d simulations, %d continued pages, %d repeated requests", l.acks.Load(), len(l.runs), l.pages.Load(), l.retried.Load())
	found := l.workspaces()
	for id, name := range l.names {
		if ids := found[name]; len(ids) != 1 || ids[0] != id {
			l.t.Errorf("%s was acknowledged with the id %s, but the read model has %v", name, id, ids)
		}
	}
	for _, id := range l.runs {
		testworld.Await(l.t, func() (completed bool) {
			l.query(`SELECT EXISTS (SELECT FROM readmodel.simulations WHERE id = '`+id+`' AND status = 'completed')`, &completed)
			return completed
		})
	}
}
