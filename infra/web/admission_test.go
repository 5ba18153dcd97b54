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

func plenty(string, string) int64 { return 1 << 20 }

// admission returns an Admission with many slots, unless config changes that.
func admission(t *testing.T, config func(*AdmissionConfig)) *Admission {
	t.Helper()
	c := AdmissionConfig{
		Slots: map[Class]int{}, Quota: plenty, Now: time.Now,
		BodyTime: time.Minute, BodyMemory: 1 << 30, AccountMemory: 1 << 28,
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
	return a.Receive(headers, fail)(a.Serve(headers, fail)(h))
}

// held is a handler whose requests the test ends.
type held struct{ entered, leave chan struct{} }

func newHeld() *held { return &held{make(chan struct{}), make(chan struct{})} }

func (h *held) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
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

// TestAnAccountLeavesRoomForOthers: however many requests an account has, that of
// another account is served at once, in every class. Those beyond the account's
// share are refused without a wait.
func TestAnAccountLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	for _, class := range Classes() {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			const slots = 4
			a := admission(t, func(c *AdmissionConfig) { c.Slots[class] = slots })
			a.slots[class].held = time.Hour // so that no request can expect a slot
			h := newHeld()
			door := a.around(h)
			answers := make(chan int, slots)
			mine := 0
			for mine < slots {
				go func() { answers <- ask(t.Context(), door, "greedy", class).Code }()
				select {
				case <-h.entered:
					mine++
					continue
				case code := <-answers:
					if code != 429 {
						t.Errorf("beyond the share: %d, want 429", code)
					}
				}
				break
			}
			if mine == 0 || mine == slots {
				t.Fatalf("one account holds %d of %d slots", mine, slots)
			}
			go func() { answers <- ask(t.Context(), door, "modest", class).Code }()
			testwait.Receive(t, h.entered, "the request to be served")
			close(h.leave)
			for range mine + 1 {
				if code := testwait.Receive(t, answers, "an answer"); code != 200 {
					t.Errorf("a request that was served: %d", code)
				}
			}
			if s := a.slots[class]; s.taken != 0 || len(s.accounts) != 0 {
				t.Errorf("when all are answered, %d slots are taken by %d accounts", s.taken, len(s.accounts))
			}
		})
	}
}

// TestASlotGoesToTheAccountWithTheFewest: accounts that wait take turns.
func TestASlotGoesToTheAccountWithTheFewest(t *testing.T) {
	t.Parallel()
	s := newSlots(1, policy{share: 1, wait: time.Minute}, func() time.Time { return time.Time{} })
	first, err := s.enter(t.Context(), "a", 9)
	if err != nil {
		t.Fatal(err)
	}
	type grant struct {
		account string
		leave   func()
	}
	granted := make(chan grant)
	for i, account := range []string{"a", "a", "a", "b", "c", "b"} {
		go func() {
			leave, err := s.enter(t.Context(), account, 9)
			if err != nil {
				t.Error(err)
				leave = func() {}
			}
			granted <- grant{account, leave}
		}()
		for waiting := 0; waiting <= i; { // one after the other
			waiting = 0
			s.mu.Lock()
			for _, a := range s.accounts {
				waiting += len(a.waiting)
			}
			s.mu.Unlock()
			runtime.Gosched()
		}
	}
	second, err := s.enter(t.Context(), "d", 0)
	if !fault.Is(err, fault.RateLimited) || second != nil {
		t.Errorf("an account that may have none: %v", err)
	}
	first()
	var order []string
	for range 6 {
		g := testwait.Receive(t, granted, "a slot to be granted")
		order = append(order, g.account)
		g.leave()
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "a", "b", "a"}, order); diff != "" {
		t.Error(diff)
	}
}

// TestAWaitThatIsOfNoUseIsNotMade: a request that cannot be served in time is
// refused at once, with 503 when other accounts use the slots. A wait that ends
// without a slot leaves no state.
func TestAWaitThatIsOfNoUseIsNotMade(t *testing.T) {
	t.Parallel()
	s := newSlots(2, policy{share: 0.5, wait: time.Hour, usual: time.Minute}, time.Now)
	for _, account := range []string{"a", "b"} {
		if _, err := s.enter(t.Context(), account, 9); err != nil {
			t.Fatal(err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.enter(gone, "c", 9); err != context.Canceled { //nolint:errorlint // it is that
		t.Errorf("a wait whose client is gone: %v", err)
	}
	s.held = 2 * time.Hour
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := s.enter(soon, "c", 9)
	if !fault.Is(err, fault.Unavailable) || err.(*fault.Fault).RetryAfter != 2*time.Hour { //nolint:errorlint // it is that
		t.Errorf("while others have all slots: %v", err)
	}
	s.wait, s.held = time.Nanosecond, 0
	if _, err := s.enter(t.Context(), "c", 9); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after the longest wait: %v", err)
	}
	if s.taken != 2 || len(s.accounts) != 2 {
		t.Errorf("%d slots are taken by %d accounts, want 2 by 2", s.taken, len(s.accounts))
	}
}

// TestAQuotaOfRequests: an account can use its quota of a class at once, and again
// a second later.
func TestAQuotaOfRequests(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	a := admission(t, func(c *AdmissionConfig) {
		c.Now = func() time.Time { return time.Unix(0, clock.Load()) }
		c.Quota = func(account, name string) int64 {
			return map[string]int64{"few requests.read": 4, "none requests.read": 0}[account+" "+name]
		}
	})
	door := a.around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	said := func(account string) []string {
		w := ask(t.Context(), door, account, ClassRead)
		return []string{fmt.Sprint(w.Code), w.Header().Get("RateLimit-Policy"), w.Header().Get("RateLimit"), w.Header().Get("Retry-After")}
	}
	const four = `"requests.read";q=4;w=1`
	for range 2 {
		got := [][]string{said("few"), said("few"), said("few"), said("few"), said("few"), said("none")}
		if diff := cmp.Diff([][]string{
			{"200", four, `"requests.read";r=3;t=1`, ""},
			{"200", four, `"requests.read";r=2;t=1`, ""},
			{"200", four, `"requests.read";r=1;t=1`, ""},
			{"200", four, `"requests.read";r=0;t=1`, ""},
			{"429", four, `"requests.read";r=0;t=1`, "1"},
			{"429", `"requests.read";q=0;w=1`, `"requests.read";r=0;t=60`, "60"},
		}, got); diff != "" {
			t.Error(diff)
		}
		clock.Add(int64(time.Second))
	}
}

func TestIdleAccountsAreForgotten(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	l := newRates(func() time.Time { return time.Unix(0, clock.Load()) })
	for i := range 10 * minSweep {
		clock.Add(int64(time.Millisecond))
		l.take(fmt.Sprint(i), ClassRead, 1)
	}
	if len(l.whole) > 2*minSweep {
		t.Errorf("%d accounts are remembered", len(l.whole))
	}
}

// send sends the header of a request and a part of its body, and returns the
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

// TestABodyIsReadBeforeASlotIsTaken: bodies that do not arrive use the memory of
// their account, no slot, and no memory of other accounts. Their memory is freed.
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
	used := func(want int64) {
		for have := int64(-1); have != want && t.Context().Err() == nil; {
			a.bodies.mu.Lock()
			have = a.bodies.used
			a.bodies.mu.Unlock()
			runtime.Gosched()
		}
	}
	used(slow * firstPart)
	for _, test := range []struct{ account, body, want string }{
		{"greedy", "x", "429 Too Many Requests"},
		{"modest", "12345", "205 Reset Content"},
		{"modest", strings.Repeat("x", 2*firstPart+7), "275 status code 275"},
		{"modest", strings.Repeat("x", 4*firstPart), "503 Service Unavailable"},
	} {
		if got := answer(t, send(t, address, test.account, test.body, len(test.body))); got != test.want {
			t.Errorf("%d bytes of the %s account: %s, want %s", len(test.body), test.account, got, test.want)
		}
	}
	for _, conn := range waiting {
		if _, err := io.WriteString(conn, "123456789"); err != nil {
			t.Fatal(err)
		}
		if got := answer(t, conn); got != "210 status code 210" {
			t.Errorf("a body that comes late: %s", got)
		}
	}
	used(0)
	if len(a.bodies.by) != 0 {
		t.Errorf("accounts %v have memory left", a.bodies.by)
	}
}

// TestABodyHasItsTime: a body that does not arrive in time fails.
func TestABodyHasItsTime(t *testing.T) {
	t.Parallel()
	a := admission(t, func(c *AdmissionConfig) { c.BodyTime = time.Millisecond })
	server := httptest.NewServer(a.around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil || string(body) != "x" {
			t.Errorf("the handler reads %q, %v", body, err)
		}
		w.WriteHeader(http.StatusBadRequest)
	})))
	t.Cleanup(server.Close)
	conn := send(t, server.Listener.Addr().String(), "a", "x", 10)
	if got := answer(t, conn); got != "400 Bad Request" {
		t.Errorf("a body that does not come: %s", got)
	}
}
