package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/infra/devissuer"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// writers create workspaces, each with an idempotency key. They repeat a request until
// it succeeds, and abandon some of the requests that do not.
type writers struct {
	t     *testing.T
	url   string
	token string
	done  chan struct{}
	all   sync.WaitGroup
	acks  atomic.Int64

	mu           sync.Mutex
	acknowledged map[string]string // id, by name
	abandoned    []string
}

func startWriters(t *testing.T, url string, count int) *writers {
	return startNamedWriters(t, url, count, "workspace")
}

// startNamedWriters starts writers of workspaces whose names begin with a prefix.
func startNamedWriters(t *testing.T, url string, count int, prefix string) *writers {
	w := &writers{t: t, url: url, done: make(chan struct{}), acknowledged: map[string]string{}}
	w.token = teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})
	for n := range count {
		w.all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-w.done:
					return
				default:
					// Every fifth create is abandoned if its first request does not succeed.
					w.create(fmt.Sprintf("%s %d of %d", prefix, i, n), i%5 == 0)
				}
			}
		})
	}
	return w
}

func (w *writers) create(name string, abandon bool) {
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for {
		id, status := w.send(name)
		if status == http.StatusCreated {
			w.acks.Add(1)
			w.mu.Lock()
			w.acknowledged[name] = id
			w.mu.Unlock()
			return
		}
		if status != 0 && status < 500 {
			w.t.Errorf("%s: status %d, want 201, 5xx or no answer", name, status)
			return
		}
		select {
		case <-w.done:
			abandon = true
		case <-pause.C:
		}
		if abandon {
			w.mu.Lock()
			w.abandoned = append(w.abandoned, name)
			w.mu.Unlock()
			return
		}
	}
}

// send creates a workspace and returns its id. Without an answer the status is 0.
func (w *writers) send(name string) (id string, status int) {
	body, _ := json.Marshal(map[string]string{"name": name})
	req, err := http.NewRequest("POST", w.url+"/api/v1/workspaces", bytes.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return "", http.StatusTeapot
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", strings.ReplaceAll(name, " ", "-"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", 0
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	var made struct{ ID string }
	if err != nil || resp.StatusCode == http.StatusCreated && json.Unmarshal(answer, &made) != nil {
		return "", 0
	}
	return made.ID, resp.StatusCode
}

// progress waits until n more writes are acknowledged.
func (w *writers) progress(n int) {
	w.t.Helper()
	want := w.acks.Load() + int64(n)
	every := time.NewTicker(time.Millisecond)
	defer every.Stop()
	deadline := time.NewTimer(testwait.Limit(w.t))
	defer deadline.Stop()
	for w.acks.Load() < want {
		select {
		case <-every.C:
		case <-deadline.C:
			w.t.Fatalf("%d of %d writes were acknowledged", n-int(want-w.acks.Load()), n)
		}
	}
}

func (w *writers) stop() (acknowledged map[string]string, abandoned []string) {
	close(w.done)
	testwait.Group(w.t, &w.all, "the writers")
	return w.acknowledged, w.abandoned
}

// write creates workspaces.
func (w *writers) write(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if _, status := w.send(name); status != http.StatusCreated {
			w.t.Fatalf("the write of %s is answered with %d, want 201", name, status)
		}
	}
}

// ask sends a request without a body.
func (w *writers) ask(method, path string) (status int, body string) {
	w.t.Helper()
	return send(w.t, method, w.url+"/api/v1"+path, "Bearer "+w.token)
}

// send sends a request without a body.
func send(t *testing.T, method, url, authorization string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// clients create workspaces through several processes, and read each workspace through
// all processes as soon as it is acknowledged.
type clients struct {
	*writers
	urls  []string
	reads atomic.Int64
	wg    sync.WaitGroup
	end   chan struct{}
	once  sync.Once
}

func startClients(t *testing.T, urls ...string) *clients {
	c := &clients{urls: urls, end: make(chan struct{})}
	c.writers = &writers{t: t, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	for n := range 8 {
		c.wg.Go(func() {
			w := &writers{t: t, url: urls[n%len(urls)], token: c.token}
			for i := 0; ; i++ {
				select {
				case <-c.end:
					return
				default:
				}
				id, status := w.send(fmt.Sprintf("workspace %d of %d", i, n))
				if status != http.StatusCreated {
					t.Errorf("a write is answered with %d, want 201", status)
					continue
				}
				for _, url := range urls {
					if status := c.read(url, id); status != http.StatusOK {
						t.Errorf("read %d, of the acknowledged %s: %d, want 200", c.reads.Load(), id, status)
					}
				}
				c.acks.Add(1)
			}
		})
	}
	t.Cleanup(c.stop)
	return c
}

// read reads a workspace and returns the status of the response, or 0.
func (c *clients) read(url, id string) int {
	req, err := http.NewRequest("GET", url+"/api/v1/workspaces/"+id, nil)
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body) //nolint:errcheck // only the status matters
	c.reads.Add(1)
	return resp.StatusCode
}

func (c *clients) stop() {
	c.once.Do(func() {
		close(c.end)
		testwait.Group(c.t, &c.wg, "the clients")
		c.t.Logf("%d writes and %d reads", c.acks.Load(), c.reads.Load())
	})
}
