package faults_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// TestSIGTERM: after SIGTERM a process resets no connection and answers no request with
// a 5xx. Readiness fails first. Clients with persistent connections are asked to close
// them, event streams end, and new clients are served until routers have noticed.
func TestSIGTERM(t *testing.T) {
	d := newDeployment(t)
	d.env = append(d.env, "NETSIM_DRAIN=3s", "NETSIM_ROLES=api,projector,reactor") // without workers the simulation never ends
	d.start()
	account := servicetest.NewAccount()
	d.tool("credit", "grant", account, "1000", "--reference", "test")
	user := (&servicetest.Program{URL: d.url}).User(t, account)
	waiting := user.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId")

	c := leaving{t: t, d: d, token: teststack.Issuer(t).Token(devissuer.Options{User: "tester", Account: account})}
	c.follow(4, waiting)
	c.idle(4)
	for n := range 24 {
		c.busy(n)
	}
	c.balanced()
	testworld.Await(t, func() bool { return c.answers.Load() > 200 })

	if err := d.child.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	testworld.Await(t, func() bool {
		status, said := servicetest.Ready(t, strings.TrimPrefix(d.ops, "http://"))
		return status == http.StatusServiceUnavailable && strings.Contains(said, "ending")
	})
	if resp, err := c.get(&http.Client{Transport: &http.Transport{}}, "/api/v1/workspaces"); err != nil || resp.StatusCode != 200 || !resp.Close {
		t.Errorf("after readiness has failed, a new client gets %+v, %v; want 200 and Connection: close", resp, err)
	}
	testwait.Group(t, &c.all, "the clients to have left")
	testwait.Receive(t, d.ended, "the process to end")
	if code := d.child.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the process ended with status %d, want 0", code)
	}
	if c.closed.Load() < 24 {
		t.Errorf("%d of 24 busy clients were asked to close their connection, want all", c.closed.Load())
	}
}

// leaving runs clients of every kind. Each client stops when the process ends.
type leaving struct {
	t       *testing.T
	d       *deployment
	token   string
	all     sync.WaitGroup
	answers atomic.Int64
	closed  atomic.Int64 // clients that were asked to close
}

func (c *leaving) request(method, path, body string) *http.Request {
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.d.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return nil
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// send sends a request and reads the response. A missing response or a 5xx is an error.
func (c *leaving) send(client *http.Client, r *http.Request) (*http.Response, error) {
	resp, err := client.Do(r)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if err == nil && resp.StatusCode >= 500 {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	if err == nil {
		c.answers.Add(1)
	}
	return resp, err
}

func (c *leaving) get(client *http.Client, path string) (*http.Response, error) {
	return c.send(client, c.request(http.MethodGet, path, ""))
}

// busy starts a client that reads and writes without a pause on one connection. It stops
// when it is asked to close the connection.
func (c *leaving) busy(n int) {
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	c.all.Go(func() {
		for i := 0; ; i++ {
			r := c.request(http.MethodGet, "/api/v1/workspaces", "")
			if i%2 == 0 {
				r = c.request(http.MethodPost, "/api/v1/workspaces", fmt.Sprintf(`{"name":"workspace %d of %d"}`, i, n))
			}
			resp, err := c.send(client, r)
			if err != nil {
				c.t.Errorf("client %d: %v", n, err)
				return
			}
			if resp.Close {
				c.closed.Add(1)
				return
			}
		}
	})
}

// balanced starts a sequence of clients behind a router. Each client opens a new
// connection, as long as the process is ready.
func (c *leaving) balanced() {
	c.all.Go(func() {
		for {
			resp, err := http.Get(c.d.ops + "/readyz")
			if err != nil {
				c.t.Errorf("readiness: %v", err)
				return
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				return
			}
			if _, err := c.get(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "/api/v1/workspaces"); err != nil {
				c.t.Errorf("a new client: %v", err)
				return
			}
		}
	})
}

// idle starts clients that send one request and keep their connection.
func (c *leaving) idle(count int) {
	c.t.Helper()
	for range count {
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.d.url, "http://"))
		if err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() { conn.Close() })
		if _, err := fmt.Fprintf(conn, "HEAD /openapi.json HTTP/1.1\r\nHost: netsim\r\n\r\n"); err != nil {
			c.t.Fatal(err)
		}
		c.all.Go(func() {
			if err := conn.SetReadDeadline(time.Now().Add(testwait.Limit(c.t))); err != nil {
				c.t.Error(err)
			}
			text, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200") {
				c.t.Errorf("an idle client got %.40q, %v; want a response and the end of the connection", text, err)
			}
		})
	}
}

// follow starts clients that follow a simulation. Their streams must end without an
// error.
func (c *leaving) follow(count int, simulation string) {
	c.t.Helper()
	for range count {
		resp, err := http.DefaultClient.Do(c.request(http.MethodGet, "/api/v1/simulations/"+simulation+"/events", ""))
		if err != nil || resp.StatusCode != http.StatusOK {
			c.t.Fatalf("follow: %+v, %v", resp, err)
		}
		c.all.Go(func() {
			defer resp.Body.Close()
			if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), "event: status") {
				c.t.Errorf("a stream ended with %v after %.80q", err, text)
			}
		})
	}
}
