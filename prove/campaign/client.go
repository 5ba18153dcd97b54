package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"netsim/infra/wait"
)

// client sends requests as one user. Each attempt goes to a random process, as behind a
// router that does not know which processes work. It belongs to one goroutine.
type client struct {
	*campaign

	id      int
	account string
	token   string
	home    string // the workspace of its configurations and files
	random  *rand.Rand
	http    *http.Client
}

// request is an operation of the API. Repeats carry the same idempotency key.
type request struct {
	name, method, path string
	body               any // nil, []byte or what is sent as JSON
	header             map[string]string
	once               bool // no repeats
}

// reply is the last answer to a request.
type reply struct {
	status  int // 0 without an answer
	body    []byte
	header  http.Header
	via     string
	retried bool
	call    time.Duration // of the first attempt
	end     time.Duration
}

func (r reply) ok() bool { return r.status >= 200 && r.status < 300 }

// unknown reports whether the answer leaves open what happened.
func (r reply) unknown() bool {
	return r.status == 0 || r.status >= 500 || r.status == http.StatusTooManyRequests
}

// text returns a member of the body.
func (r reply) text(name string) string {
	var all map[string]any
	if json.Unmarshal(r.body, &all) != nil {
		return ""
	}
	text, _ := all[name].(string)
	return text
}

const (
	requestTimeout = 15 * time.Second
	writeTimeout   = 90 * time.Second // for all attempts of a write
)

func (c *campaign) newClient(id int, account, token string) *client {
	return &client{
		campaign: c, id: id, account: account, token: token,
		random: rand.New(rand.NewPCG(c.options.seed, uint64(id)+1000)),
		http: &http.Client{
			Timeout:       requestTimeout,
			Transport:     &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: 20 * time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// do sends a request until its outcome is known, the timeout is over or the load ends.
func (c *client) do(ctx context.Context, r request) reply {
	if r.method != http.MethodGet && r.header["Idempotency-Key"] == "" && !r.once {
		if r.header == nil {
			r.header = map[string]string{}
		}
		r.header["Idempotency-Key"] = fmt.Sprintf("%d-%d-%d", c.options.seed, c.id, c.random.Int64())
	}
	call := time.Since(c.began)
	var last reply
	for attempt := 0; ; attempt++ {
		last = c.send(ctx, r)
		last.retried, last.call = attempt > 0, call
		if !last.unknown() || r.once || r.method == http.MethodGet || time.Since(c.began)-call > writeTimeout {
			break
		}
		if wait.For(ctx, time.Duration(50+c.random.IntN(400))*time.Millisecond) != nil {
			break
		}
	}
	last.end = time.Since(c.began)
	c.count(r, last)
	return last
}

// send sends one attempt.
func (c *client) send(ctx context.Context, r request) reply {
	base := c.apis[c.random.IntN(len(c.apis))]
	var body io.Reader
	header := map[string]string{"Authorization": "Bearer " + c.token}
	switch b := r.body.(type) {
	case nil:
	case []byte:
		body = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			panic(err)
		}
		body, header["Content-Type"] = bytes.NewReader(text), "application/json"
	}
	for name, value := range r.header {
		header[name] = value
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, base+r.path, body)
	if err != nil {
		panic(err)
	}
	for name, value := range header {
		sent.Header.Set(name, value)
	}
	got, err := c.http.Do(sent)
	if err != nil {
		return reply{via: base}
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return reply{via: base}
	}
	return reply{status: got.StatusCode, body: text, header: got.Header, via: base}
}

// think waits between two operations.
func (c *client) think(ctx context.Context, about time.Duration) bool {
	return wait.For(ctx, about/2+time.Duration(c.random.Int64N(int64(about)))) == nil
}

// name returns a name that no other operation uses.
func (c *client) unique(prefix string) string {
	return prefix + "-" + strconv.Itoa(c.id) + "-" + strconv.FormatInt(c.names.Add(1), 10)
}

// tally counts operations by name and outcome.
type tally struct {
	mu     sync.Mutex
	counts map[string]map[string]int
	writes []span // acknowledged writes, for the time that nothing was acknowledged
}

type span struct{ from, to time.Duration }

func (c *client) count(r request, last reply) {
	outcome := "refused"
	switch {
	case last.ok(), last.status == http.StatusNotModified:
		outcome = "ok"
	case last.unknown():
		outcome = "unknown"
	}
	t := &c.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts[r.name] == nil {
		t.counts[r.name] = map[string]int{}
	}
	t.counts[r.name][outcome]++
	if last.ok() && r.method != http.MethodGet {
		t.writes = append(t.writes, span{last.call, last.end})
	}
}

// acknowledged returns how many writes were.
func (t *tally) acknowledged() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.writes)
}

// violate records a violation that an answer shows.
func (c *client) violate(format string, args ...any) { c.violateAs("answers", format, args...) }

// unexpected records an answer that nobody should get.
func (c *client) unexpected(r request, last reply) {
	c.violate("%s %s at %v by %s was answered with %d: %.300s", r.method, strings.SplitN(r.path, "?", 2)[0], last.end.Round(time.Millisecond), last.via, last.status, last.body)
}
