package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/fault"
	"netsim/internal/testwait"
)

func largeQuota(string, string) int64 { return 1 << 20 }

// admission returns an Admission with many slots, unless config changes that.
func admission(t *testing.T, config func(*AdmissionConfig)) *Admission {
	t.Helper()
	c := AdmissionConfig{
		Slots: map[Class]int{}, Quota: largeQuota, Now: time.Now,
		BodyTime: time.Minute, BodyRate: 1 << 20, BodyMemory: 1 << 30, AccountMemory: 1 << 28,
	}
	for _, class := range Classes() {
		c.Slots[class] = 1 << 10
	}
	config(&c)
	return NewAdmission(c)
}

// headers reads the account and the class of a request from its headers.
func headers(r *http.Request) (string, Class) {
	return r.Header.Get("Account"), Class(r.Header.Get("Class"))
}

func (a *Admission) around(h http.Handler) http.Handler {
	fail := Errors{Log: slog.New(slog.DiscardHandler)}.Fail
	return Identify(Arrive(a.Receive(headers, fail)(a.Serve(headers, fail)(h))))
}

// blocking is a handler whose requests last until the test closes leave.
type blocking struct{ entered, leave chan struct{} }

func newBlocking() *blocking { return &blocking{make(chan struct{}), make(chan struct{})} }

func (h *blocking) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	h.entered <- struct{}{}
	select {
	case <-h.leave:
	case <-r.Context().Done():
	}
}

func ask(ctx context.Context, h http.Handler, account string, class Class) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	r.Header.Set("Account", account)
	r.Header.Set("Class", string(class))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// When one account sends as many requests as it can, the request of another account
// is served at once, in every class. Requests beyond an account's share are refused
// without a wait.
func TestAnAccountLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	for _, class := range Classes() {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			const slots = 4
			a := admission(t, func(c *AdmissionConfig) { c.Slots[class] = slots })
			a.slots[class].held = time.Hour // so that no request can expect a slot
			h := newBlocking()
			admitted := a.around(h)
			answers := make(chan int, slots)
			greedy := 0 // slots of the account greedy
			for greedy < slots {
				go func() { answers <- ask(t.Context(), admitted, "greedy", class).Code }()
				select {
				case <-h.entered:
					greedy++
					continue
				case code := <-answers:
					if code != 429 {
						t.Errorf("request beyond the share: status %d, want 429", code)
					}
				}
				break
			}
			if greedy == 0 || greedy == slots {
				t.Fatalf("one account holds %d of %d slots, want some but not all", greedy, slots)
			}
			go func() { answers <- ask(t.Context(), admitted, "modest", class).Code }()
			testwait.Receive(t, h.entered, "the other account's request to be served")
			close(h.leave)
			for range greedy + 1 {
				if code := testwait.Receive(t, answers, "an answer"); code != 200 {
					t.Errorf("status of a served request = %d, want 200", code)
				}
			}
			if s := a.slots[class]; s.taken != 0 || len(s.accounts) != 0 {
				t.Errorf("after all answers, %d slots are taken by %d accounts, want none", s.taken, len(s.accounts))
			}
		})
	}
}

// A free slot goes to the waiting account that holds the fewest slots. Accounts that
// hold equally few take turns.
func TestASlotGoesToTheAccountWithTheFewest(t *testing.T) {
	t.Parallel()
	s := newSlots(1, policy{share: 1, wait: time.Minute}, func() time.Time { return time.Time{} })
	first, err := s.enter(t.Context(), "a", 9, nil)
	if err != nil {
		t.Fatal(err)
	}
	type grant struct {
		account string
		leave   func() bool
	}
	granted := make(chan grant)
	for i, account := range []string{"a", "a", "a", "b", "c", "b"} {
		go func() {
			leave, err := s.enter(t.Context(), account, 9, nil)
			if err != nil {
				t.Error(err)
				leave = func() bool { return true }
			}
			granted <- grant{account, leave}
		}()
		for waiting := 0; waiting <= i; { // until this request waits
			waiting = 0
			s.mu.Lock()
			for _, a := range s.accounts {
				waiting += len(a.waiting)
			}
			s.mu.Unlock()
			runtime.Gosched()
		}
	}
	second, err := s.enter(t.Context(), "d", 0, nil)
	if !fault.Is(err, fault.RateLimited) || second != nil {
		t.Errorf("enter with a quota of 0: %v, want %s", err, fault.RateLimited)
	}
	first()
	var order []string
	for range 6 {
		g := testwait.Receive(t, granted, "a slot to be granted")
		order = append(order, g.account)
		g.leave()
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "a", "b", "a"}, order); diff != "" {
		t.Errorf("accounts in the order of their slots (-want +got):\n%s", diff)
	}
}

// A request that cannot be served in time is refused at once, with 503 when other
// accounts use the slots. A wait that ends without a slot leaves no state.
func TestAHopelessRequestDoesNotWait(t *testing.T) {
	t.Parallel()
	s := newSlots(2, policy{share: 0.5, wait: time.Hour, usual: time.Minute}, time.Now)
	for _, account := range []string{"a", "b"} {
		if _, err := s.enter(t.Context(), account, 9, nil); err != nil {
			t.Fatal(err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.enter(canceled, "c", 9, nil); err != context.Canceled { //nolint:errorlint // the error is not wrapped
		t.Errorf("enter with a canceled context: %v, want %v", err, context.Canceled)
	}
	s.held = 2 * time.Hour
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := s.enter(soon, "c", 9, nil)
	if !fault.Is(err, fault.Unavailable) || err.(*fault.Fault).RetryAfter != 2*time.Hour { //nolint:errorlint // the error is not wrapped
		t.Errorf("enter while other accounts hold all slots: %v, want %s", err, fault.Unavailable)
	}
	s.wait, s.held = time.Nanosecond, 0
	if _, err := s.enter(t.Context(), "c", 9, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("enter after the longest wait: %v, want %s", err, fault.Unavailable)
	}
	if s.taken != 2 || len(s.accounts) != 2 {
		t.Errorf("%d slots are taken by %d accounts, want 2 by 2", s.taken, len(s.accounts))
	}
}

// An account can use its whole quota of a class at once, and again a second later.
func TestAQuotaOfRequests(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	a := admission(t, func(c *AdmissionConfig) {
		c.Now = func() time.Time { return time.Unix(0, clock.Load()) }
		c.Quota = func(account, name string) int64 {
			return map[string]int64{"few requests.read": 4, "none requests.read": 0}[account+" "+name]
		}
	})
	admitted := a.around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	answer := func(account string) []string {
		w := ask(t.Context(), admitted, account, ClassRead)
		return []string{fmt.Sprint(w.Code), w.Header().Get("RateLimit-Policy"), w.Header().Get("RateLimit"), w.Header().Get("Retry-After")}
	}
	const four = `"requests.read";q=4;w=1`
	for range 2 {
		got := [][]string{answer("few"), answer("few"), answer("few"), answer("few"), answer("few"), answer("none")}
		if diff := cmp.Diff([][]string{
			{"200", four, `"requests.read";r=3;t=1`, ""},
			{"200", four, `"requests.read";r=2;t=1`, ""},
			{"200", four, `"requests.read";r=1;t=1`, ""},
			{"200", four, `"requests.read";r=0;t=1`, ""},
			{"429", four, `"requests.read";r=0;t=1`, "1"},
			{"429", `"requests.read";q=0;w=1`, `"requests.read";r=0;t=60`, "60"},
		}, got); diff != "" {
			t.Errorf("statuses and headers (-want +got):\n%s", diff)
		}
		clock.Add(int64(time.Second))
	}
}

func TestIdleAccountsAreRemoved(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	l := newRates(func() time.Time { return time.Unix(0, clock.Load()) })
	for i := range 10 * minSweep {
		clock.Add(int64(time.Millisecond))
		l.take(fmt.Sprint(i), ClassRead, 1)
	}
	if len(l.whole) > 2*minSweep {
		t.Errorf("%d accounts are stored, want at most %d", len(l.whole), 2*minSweep)
	}
}

// send sends the header of a request and the given part of its body, and returns the
// connection.
func send(t *testing.T, address, account, body string, length int) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: test\r\nAccount: %s\r\nClass: write\r\nContent-Length: %d\r\n\r\n%s", account, length, body)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func answer(t *testing.T, conn net.Conn) string {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.Status
}

// A body that does not arrive uses its account's memory, but neither a slot nor the
// memory of other accounts. The memory is released after the request.
func TestABodyIsReadBeforeASlotIsTaken(t *testing.T) {
	t.Parallel()
	const slow = 8
	a := admission(t, func(c *AdmissionConfig) {
		c.Slots[ClassWrite], c.AccountMemory, c.BodyMemory = 1, slow*firstPart, (slow+3)*firstPart
	})
	server := httptest.NewServer(a.around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(200 + len(body)%100)
	})))
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	var waiting []net.Conn
	for range slow {
		waiting = append(waiting, send(t, address, "greedy", "x", 10))
	}
	awaitUsed := func(want int64) {
		for used := int64(-1); used != want && t.Context().Err() == nil; {
			a.bodies.mu.Lock()
			used = a.bodies.used
			a.bodies.mu.Unlock()
			runtime.Gosched()
		}
	}
	awaitUsed(slow * firstPart)
	for _, test := range []struct{ account, body, want string }{
		{"greedy", "x", "429 Too Many Requests"},
		{"modest", "12345", "205 Reset Content"},
		{"modest", strings.Repeat("x", 2*firstPart+7), "275 status code 275"},
		{"modest", strings.Repeat("x", 4*firstPart), "503 Service Unavailable"},
	} {
		if got := answer(t, send(t, address, test.account, test.body, len(test.body))); got != test.want {
			t.Errorf("body of %d bytes from account %s: status %s, want %s", len(test.body), test.account, got, test.want)
		}
	}
	for _, conn := range waiting {
		if _, err := io.WriteString(conn, "123456789"); err != nil {
			t.Fatal(err)
		}
		if got := answer(t, conn); got != "210 status code 210" {
			t.Errorf("a late body: status %s, want 210", got)
		}
	}
	awaitUsed(0)
	if len(a.bodies.by) != 0 {
		t.Errorf("memory by account = %v, want none", a.bodies.by)
	}
}

// Reading a body that does not arrive within BodyTime fails.
func TestALateBodyFails(t *testing.T) {
	t.Parallel()
	a := admission(t, func(c *AdmissionConfig) { c.BodyTime = time.Millisecond })
	server := httptest.NewServer(a.around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil || string(body) != "x" {
			t.Errorf("the handler read %q, %v; want x and an error", body, err)
		}
		w.WriteHeader(http.StatusBadRequest)
	})))
	t.Cleanup(server.Close)
	conn := send(t, server.Listener.Addr().String(), "a", "x", 10)
	if got := answer(t, conn); got != "400 Bad Request" {
		t.Errorf("a body that does not arrive: status %s, want 400", got)
	}
}
