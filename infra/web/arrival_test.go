package web

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"netsim/fault"
)

// pipes is a listener without a network, so that time can be that of a synctest bubble.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

// serve serves the handler until the test ends, and returns a function that connects to it.
func serve(t *testing.T, h http.Handler) (dial func() *client) {
	t.Helper()
	listener := make(pipes)
	server := NewServer(h, time.Minute, slog.New(slog.DiscardHandler))
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		close(listener)
		server.Close()
		<-served
		<-time.After(2 * lingerTime) // of the bubble, in which the connections end
	})
	return func() *client {
		ours, theirs := net.Pipe()
		listener <- theirs
		t.Cleanup(func() { ours.Close() })
		return &client{t, ours, bufio.NewReader(ours)}
	}
}

// client is a client that writes its requests byte by byte if it likes.
type client struct {
	t    *testing.T
	conn net.Conn
	from *bufio.Reader
}

// begin sends the head of a request of a class whose body has the length, or no known
// length below 0.
func (c *client) begin(account string, class Class, length int) {
	c.t.Helper()
	size := fmt.Sprintf("Content-Length: %d", length)
	if length < 0 {
		size = "Transfer-Encoding: chunked"
	}
	c.send(fmt.Sprintf("POST / HTTP/1.1\r\nHost: test\r\nAccount: %s\r\nClass: %s\r\n%s\r\n\r\n", account, class, size))
}

// send sends the text, or as much of it as the service reads.
func (c *client) send(text string) { _, _ = io.WriteString(c.conn, text) }

// trickle sends n bytes at every interval until the service does not read them.
func (c *client) trickle(n int, every time.Duration) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for err := error(nil); err == nil; {
			<-time.After(every) // of the bubble
			_, err = io.WriteString(c.conn, strings.Repeat("x", n))
		}
	}()
	c.t.Cleanup(func() {
		c.conn.Close()
		<-ended
	})
}

func (c *client) answer() *http.Response {
	c.t.Helper()
	resp, err := http.ReadResponse(c.from, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp
}

// reading is a handler that reads the whole body, as an upload does.
func reading(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		Errors{Log: slog.New(slog.DiscardHandler)}.Fail(w, r, err)
	}
}

// While trickling uploads of other accounts hold all slots, an upload waits little more
// than a second: the slowest of them is refused with 503.
func TestTheSlowestUploadYieldsItsSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slots = 8
		var refused, others atomic.Int64
		a := admission(t, func(c *AdmissionConfig) {
			c.Slots[ClassUpload] = slots
			c.Refused = func(_ Class, code fault.Code) {
				if code == fault.Unavailable {
					refused.Add(1)
				} else {
					others.Add(1)
				}
			}
		})
		dial := serve(t, a.around(http.HandlerFunc(reading)))
		var trickling []*client
		for i := range slots {
			c := dial()
			c.begin(fmt.Sprint("account ", i/2), ClassUpload, 1<<30)
			c.trickle(100-10*i, 100*time.Millisecond) // the last is the slowest
			trickling = append(trickling, c)
		}
		<-time.After(3 * time.Second)
		if used, _ := a.Report(); used[ClassUpload].Used != slots {
			t.Fatalf("%d slots are used, want all %d", used[ClassUpload].Used, slots)
		}
		for i := range 3 {
			fast := dial()
			began := time.Now()
			fast.begin("fast", ClassUpload, 1<<10)
			go fast.send(strings.Repeat("x", 1<<10))
			slowest := make(chan *http.Response)
			go func() { slowest <- trickling[slots-1-i].answer() }()
			if resp := fast.answer(); resp.StatusCode != 200 || time.Since(began) > 1200*time.Millisecond {
				t.Errorf("a fast upload: %s after %s, want 200 after a second", resp.Status, time.Since(began))
			}
			resp := <-slowest
			if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !resp.Close {
				t.Errorf("the slowest upload: %s %v, want 503 with Retry-After and the end of the connection", resp.Status, resp.Header)
			}
			again := dial() // takes the slot again
			again.begin(fmt.Sprint("again ", i), ClassUpload, 1<<30)
			again.trickle(1000, 100*time.Millisecond)
			<-time.After(2 * time.Second)
		}
		if refused.Load() != 3 || others.Load() != 0 {
			t.Errorf("%d are refused with 503 and %d otherwise, want the 3 slowest", refused.Load(), others.Load())
		}
	})
}

// An account does not take the slots of accounts that hold no more of them.
func TestAnUploadYieldsOnlyToAccountsWithLess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slots = 4 // one for each account
		a := admission(t, func(c *AdmissionConfig) { c.Slots[ClassUpload] = slots })
		dial := serve(t, a.around(http.HandlerFunc(reading)))
		for i := range slots {
			c := dial()
			c.begin(fmt.Sprint(i), ClassUpload, 1<<30)
			c.trickle(1, 100*time.Millisecond)
		}
		<-time.After(3 * time.Second)
		second := dial()
		second.begin("0", ClassUpload, 1<<10)
		if resp := second.answer(); resp.StatusCode != 429 {
			t.Errorf("a second upload of an account with its share: %s, want 429", resp.Status)
		}
		if used, _ := a.Report(); used[ClassUpload].Used != slots {
			t.Errorf("%d slots are used, want all %d", used[ClassUpload].Used, slots)
		}
	})
}

// While slow bodies of other accounts use all memory for bodies, a request is served: the
// slowest of them is refused.
func TestTheSlowestBodyYieldsItsMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const each, accounts = 4, 4
		a := admission(t, func(c *AdmissionConfig) {
			c.AccountMemory, c.BodyMemory = each*firstPart, accounts*each*firstPart
		})
		dial := serve(t, a.around(http.HandlerFunc(reading)))
		var trickling []*client
		for i := range each * accounts {
			c := dial()
			c.begin(fmt.Sprint(i%accounts), ClassWrite, 1000)
			c.trickle(1, time.Duration(100+50*i)*time.Millisecond) // the last is the slowest
			trickling = append(trickling, c)
		}
		<-time.After(5 * time.Second)
		slowest := make(chan *http.Response)
		go func() { slowest <- trickling[len(trickling)-1].answer() }()
		modest := dial()
		modest.begin("modest", ClassWrite, 3)
		modest.send("123")
		if resp := modest.answer(); resp.StatusCode != 200 {
			t.Errorf("a request beside slow bodies: %s, want 200", resp.Status)
		}
		if resp := <-slowest; resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
			t.Errorf("the slowest body: %s, want 503 with Retry-After", resp.Status)
		}
		greedy := dial()
		greedy.begin("0", ClassWrite, 3)
		if resp := greedy.answer(); resp.StatusCode != 429 {
			t.Errorf("a request of an account that uses its share: %s, want 429", resp.Status)
		}
		if _, used := a.Report(); used != (each*accounts-1)*firstPart {
			t.Errorf("%d bytes are used, want those of all but one", used)
		}
	})
}

// An upload may take as long as it needs at the least rate, and no longer.
func TestAnUploadHasALeastRate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		perSecond, size int
		status          int
		least, most     time.Duration
	}{
		"twice the rate": {200, 60_000, 200, 300 * time.Second, 301 * time.Second},
		"half the rate":  {50, 60_000, 400, 58 * time.Second, 62 * time.Second}, // 30 s + 50 t / 100 < t
		"nothing":        {0, 60_000, 400, 30 * time.Second, 31 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := admission(t, func(c *AdmissionConfig) { c.BodyTime, c.BodyRate = 30*time.Second, 100 })
				h := Budget(0, time.Second, func(*http.Request) time.Duration { return time.Hour }, never)(a.around(http.HandlerFunc(reading)))
				c := serve(t, h)()
				began := time.Now()
				c.begin("slow", ClassUpload, test.size)
				if test.perSecond > 0 {
					c.trickle(test.perSecond, time.Second)
				}
				resp := c.answer()
				if took := time.Since(began); resp.StatusCode != test.status || took < test.least || took > test.most {
					t.Errorf("%s after %s, want %d after %s", resp.Status, took, test.status, test.least)
				}
			})
		})
	}
}

// A refused request is answered at once, however slowly its body arrives, and its
// connection is closed. A short body that has arrived does not end the connection.
func TestARefusedRequestIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	fail := Errors{Log: slog.New(slog.DiscardHandler)}.Fail
	refuse := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fail(w, r, fault.New(fault.Forbidden, "no")) })
	whileReading := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.Copy(io.Discard, r.Body)
		}()
		synctest.Wait() // until the goroutine waits for the client
		fail(w, r, fault.New(fault.Forbidden, "no"))
		<-ended
	})
	limited := LimitBody(func(*http.Request) int64 { return 100 }, fail)(http.HandlerFunc(reading))
	none := admission(t, func(c *AdmissionConfig) { c.Quota = func(string, string) int64 { return 0 } })
	full := admission(t, func(c *AdmissionConfig) { c.Slots[ClassUpload] = 0 })
	bare := func(h http.Handler) http.Handler { return Identify(Arrive(h)) }
	for name, test := range map[string]struct {
		handler http.Handler
		length  int
		sent    string
		status  int
		kept    bool
	}{
		"nothing sent":       {bare(refuse), 1000, "", 403, false},
		"a part sent":        {bare(refuse), 1000, "xyz", 403, false},
		"large":              {bare(refuse), 1 << 30, "xyz", 403, false},
		"chunked":            {bare(refuse), -1, "3\r\nxyz\r\n", 403, false},
		"all sent":           {bare(refuse), 3, "xyz", 403, true},
		"all sent, chunked":  {bare(refuse), -1, "3\r\nxyz\r\n0\r\n\r\n", 403, true},
		"while it is read":   {bare(whileReading), 1000, "xyz", 403, false},
		"too large":          {bare(limited), 1000, "xyz", 413, false},
		"too large, chunked": {bare(limited), -1, "c8\r\n" + strings.Repeat("x", 200) + "\r\n", 413, false},
		"no quota":           {none.around(refuse), 1000, "xyz", 429, false},
		"no slot":            {full.around(refuse), 1000, "xyz", 503, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := serve(t, test.handler)()
				began := time.Now()
				c.begin("a", ClassUpload, test.length)
				go c.send(test.sent)
				resp := c.answer()
				if took := time.Since(began); resp.StatusCode != test.status || took > settleTime || resp.Close == test.kept {
					t.Errorf("%s after %s, closes: %t; want %d within %s, and the connection kept: %t", resp.Status, took, resp.Close, test.status, settleTime, test.kept)
				}
				if test.kept {
					c.begin("a", ClassUpload, test.length)
					go c.send(test.sent)
					c.answer()
					return
				}
				began = time.Now()
				if _, err := c.from.ReadByte(); err != io.EOF || time.Since(began) > lingerTime+time.Second { //nolint:errorlint // the end of a pipe is io.EOF itself
					t.Errorf("after the answer: %v after %s, want the end of the connection", err, time.Since(began))
				}
			})
		})
	}
}

// A client that sends its whole body before it reads the answer also gets the refusal.
func TestARefusedBodyIsReadAfterTheAnswer(t *testing.T) {
	t.Parallel()
	fail := Errors{Log: slog.New(slog.DiscardHandler)}.Fail
	for what, h := range map[string]http.Handler{
		"too large": LimitBody(atMost(MaxBody), fail)(http.NotFoundHandler()),
		"forbidden": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fail(w, r, fault.New(fault.Forbidden, "no")) }),
	} {
		server := httptest.NewServer(Identify(Arrive(h)))
		defer server.Close()
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /things HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n", 2*MaxBody)
		if _, err := conn.Write(make([]byte, 2*MaxBody)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		resp.Body.Close()
		if resp.StatusCode < 400 || !resp.Close {
			t.Errorf("%s: %s, want a refusal and the end of the connection", what, resp.Status)
		}
	}
}
