package servicetest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"netsim/api/contract/contracttest"
	"netsim/infra/replicas"
	"netsim/infra/wait"
	"netsim/internal/testwait"
)

// Client sends requests with one token and checks the responses against the
// contract. It is safe for concurrent use.
type Client struct {
	t     testing.TB
	base  string
	token string
	http  *http.Client
}

// Reply is a response with its whole body.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte

	t testing.TB
}

// Header is a request header.
type Header struct{ Name, Value string }

// Get sends a GET. The methods below send a body as JSON, except a []byte, which is sent
// unchanged, and nil, which means no body.
func (c *Client) Get(path string, h ...Header) Reply {
	c.t.Helper()
	return c.Do("GET", path, nil, h...)
}

// Post sends a POST.
func (c *Client) Post(path string, body any, h ...Header) Reply {
	c.t.Helper()
	return c.Do("POST", path, body, h...)
}

// PostOnce insists on a POST with an idempotency key.
func (c *Client) PostOnce(path string, body any, key string) Reply {
	c.t.Helper()
	return c.Insist(func() Reply {
		return c.Post(path, body, Header{Name: "Idempotency-Key", Value: key})
	})
}

// Insist sends a request, and repeats it while the service asks for that with 503: a busy one
// refuses requests, or does not know an outcome in time. It returns the last reply.
func (c *Client) Insist(send func() Reply) Reply {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), testwait.Limit(c.t))
	defer cancel()
	for {
		reply := send()
		seconds, err := strconv.Atoi(reply.Header.Get("Retry-After"))
		if reply.Status != http.StatusServiceUnavailable || err != nil || wait.For(ctx, time.Duration(seconds)*time.Second) != nil {
			return reply
		}
	}
}

// Patch sends a PATCH.
func (c *Client) Patch(path string, body any, h ...Header) Reply {
	c.t.Helper()
	return c.Do("PATCH", path, body, h...)
}

// Delete sends a DELETE.
func (c *Client) Delete(path string, h ...Header) Reply {
	c.t.Helper()
	return c.Do("DELETE", path, nil, h...)
}

// Do sends a request.
func (c *Client) Do(method, path string, body any, headers ...Header) Reply {
	c.t.Helper()
	var sent io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		sent = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			c.t.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, sent)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if sent != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		req.Header.Set(h.Name, h.Value)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // the body is read completely
	contracttest.Saw(c.t, req, resp.StatusCode)
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return Reply{Status: resp.StatusCode, Header: resp.Header, Body: got, t: c.t}
}

// Open sends a GET for an event stream, and returns the response unread and unchecked.
// The caller closes the body.
func (c *Client) Open(path string, headers ...Header) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.base+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	for _, h := range headers {
		req.Header.Set(h.Name, h.Value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp
}

// Want fails the test unless the reply has the status, and returns the reply.
func (r Reply) Want(status int) Reply {
	r.t.Helper()
	if r.Status != status {
		r.t.Fatalf("status %d, want %d: %s", r.Status, status, r.Body)
	}
	return r
}

// Refused fails the test unless the reply has the status and the error code, and returns
// the error's message.
func (r Reply) Refused(status int, code string) string {
	r.t.Helper()
	r.Want(status)
	var e struct {
		Error struct{ Code, Message string }
	}
	r.Into(&e)
	if e.Error.Code != code {
		r.t.Fatalf("code %q, want %q: %s", e.Error.Code, code, r.Body)
	}
	return e.Error.Message
}

// Into decodes the body.
func (r Reply) Into(v any) {
	r.t.Helper()
	if err := json.Unmarshal(r.Body, v); err != nil {
		r.t.Fatalf("%v: %s", err, r.Body)
	}
}

// Object decodes the body as an object.
func (r Reply) Object() map[string]any {
	r.t.Helper()
	var m map[string]any
	r.Into(&m)
	return m
}

// Text returns a member of the body that is a string. It fails the test if the member is
// missing or empty.
func (r Reply) Text(name string) string {
	r.t.Helper()
	value, _ := r.Object()[name].(string)
	if value == "" {
		r.t.Fatalf("no %s in %s", name, r.Body)
	}
	return value
}

// Token returns the consistency token of the reply, which must have one.
func (r Reply) Token() string {
	r.t.Helper()
	token := r.Header.Get(replicas.Header)
	if token == "" {
		r.t.Fatalf("the reply %d %s has no token", r.Status, r.Body)
	}
	return token
}

// HasStatus is a condition of Eventually: the reply is 200 and its member status is the
// given one.
func HasStatus(status string) func(Reply) bool {
	return func(r Reply) bool { return r.Status == 200 && r.Object()["status"] == status }
}

// Eventually repeats a GET until ok returns true, and returns the last reply. Tests use it
// to wait for reactions and runs. It fails the test at the limit of testwait.
func (c *Client) Eventually(path string, ok func(Reply) bool) Reply {
	c.t.Helper()
	began, deadline := time.Now(), time.NewTimer(testwait.Limit(c.t))
	defer deadline.Stop()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for {
		reply := c.Get(path)
		if ok(reply) {
			return reply
		}
		select {
		case <-every.C:
		case <-deadline.C:
			c.t.Fatalf("after %s the reply to GET %s is still %d %s", time.Since(began).Round(time.Second), path, reply.Status, reply.Body)
		}
	}
}
