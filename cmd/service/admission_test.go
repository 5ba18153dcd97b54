package service_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// TestSlowBodiesDelayNobody: requests of one account with slow bodies delay neither
// another account's writes nor its own.
func TestSlowBodiesDelayNobody(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.MaxWrites, c.BodyTimeout = 4, time.Hour })
	account := servicetest.NewAccount()
	token := teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "slow", Account: account})
	var begun []net.Conn
	for range 200 {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		// The service sends 100 when it admits the request and begins to read its body.
		fmt.Fprintf(conn, "POST /api/v1/workspaces HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: 21\r\nExpect: 100-continue\r\n\r\n", token)
		if resp := read(t, conn); resp.StatusCode != http.StatusContinue {
			t.Fatalf("a request with a slow body: got %s, want 100", resp.Status)
		}
		fmt.Fprint(conn, "{")
		begun = append(begun, conn)
	}
	p.Service(t, servicetest.NewAccount()).Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201)
	p.Service(t, account).Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201)
	for i, conn := range begun[:8] {
		fmt.Fprintf(conn, `"name": "late %04d"}`, i)
		if resp := read(t, conn); resp.StatusCode != http.StatusCreated {
			t.Errorf("after the rest of the body: got %s, want 201", resp.Status)
		}
	}
}

func read(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(testwait.Limit(t))); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// TestALateBodyIsRefused: a body that does not arrive within BodyTimeout is refused, and
// its memory is free again.
func TestALateBodyIsRefused(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) {
		c.BodyTimeout, c.BodyMemory = 50*time.Millisecond, 4*16<<10 // one account may use a quarter, 16 KiB
	})
	account := servicetest.NewAccount()
	token := teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "slow", Account: account})
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/v1/workspaces HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{", token)
	if resp := read(t, conn); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a body that does not arrive: got %s, want 400", resp.Status)
	}
	user := p.Service(t, account)
	user.Post("/api/v1/workspaces", map[string]any{"name": strings.Repeat("w", 17<<10)}).Refused(429, "RATE_LIMITED")
	user.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201)
}

// TestAnAccountDoesNotWaitForAnothersHeavyRequests: while one account sends more heavy
// requests than the service serves at a time, every heavy request of another account is
// served.
func TestAnAccountDoesNotWaitForAnothersHeavyRequests(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.MaxHeavy = 2 })
	const preview = "/api/v1/simple/simulations/preview"
	greedy, modest := p.User(t, servicetest.NewAccount()), p.User(t, servicetest.NewAccount())
	body := map[string]any{
		"topologyConstraints": map[string]any{"switchRadix": "64x800G", "subscriptionRatio": "1:1"},
		"workload":            map[string]any{"ranks": 2048, "phases": []any{map[string]any{"operationType": "allReduce", "dataSize": 1 << 20}}},
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if r := greedy.Post(preview, body); r.Status != 200 && r.Status != 429 {
					t.Errorf("the greedy account: %d %s", r.Status, r.Body)
				}
			}
		})
	}
	for range 10 {
		modest.Post(preview, body).Want(200)
	}
	close(stop)
	testwait.Group(t, &all, "the greedy clients")
}

// TestTricklingUploadsDelayNobody: while uploads of other accounts that send nothing hold
// all slots, an upload is served within the longest wait for a slot, and one of them is
// refused.
func TestTricklingUploadsDelayNobody(t *testing.T) {
	t.Parallel()
	const slots = 8 // two for each account
	p := servicetest.Start(t, func(c *settings.Config) { c.MaxUploads, c.BodyTimeout = slots, time.Hour })
	var begun []net.Conn
	for range 4 {
		token := teststack.Issuer(t).Token(devissuer.Options{User: "slow", Account: servicetest.NewAccount()})
		for range slots / 4 {
			conn := upload(t, p, token, 1_000_000, "Expect: 100-continue\r\n")
			if resp := read(t, conn); resp.StatusCode != http.StatusContinue { // sent when the body is read
				t.Fatalf("a slow upload: got %s, want 100", resp.Status)
			}
			begun = append(begun, conn)
		}
	}
	began := time.Now()
	form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.0.et\"\r\n\r\nbytes\r\n--b--\r\n"
	token := teststack.Issuer(t).Token(devissuer.Options{User: "fast", Account: servicetest.NewAccount()})
	// 503 if it takes a busy machine longer than the longest wait to free the slot.
	for served := false; !served; {
		fast := upload(t, p, token, len(form), "")
		fmt.Fprint(fast, form)
		resp := read(t, fast)
		if served = resp.StatusCode != http.StatusServiceUnavailable; served && resp.StatusCode != http.StatusCreated {
			t.Errorf("an upload beside slow ones: got %s, want 201", resp.Status)
		}
	}
	t.Logf("answered after %s", time.Since(began))
	refused := make(chan *http.Response)
	for _, conn := range begun {
		go func() {
			if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				resp.Body.Close()
				refused <- resp
			}
		}()
	}
	resp := testwait.Receive(t, refused, "a slow upload to be refused")
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !resp.Close {
		t.Errorf("a slow upload: got %s %v, want 503 with Retry-After", resp.Status, resp.Header)
	}
}

// upload sends the head of a direct upload of a traceset.
func upload(t *testing.T, p *servicetest.Program, token string, length int, headers string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST /api/v1/tracesets?workspaceId=%s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n%s\r\n", events.TracesetWorkspace, token, length, headers)
	return conn
}

// TestARefusedUploadIsAnsweredAtOnce: an upload that is refused is answered although its
// body does not arrive, and its connection is closed.
func TestARefusedUploadIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.BodyTimeout = time.Hour })
	account := servicetest.NewAccount()
	p.SetQuota(t, account, commands.QuotaUploads, 0)
	token := teststack.Issuer(t).Token(devissuer.Options{User: "slow", Account: account})
	for what, test := range map[string]struct {
		token string
		sent  string
		want  int
	}{
		"no token":             {"none", "", 401},
		"above the quota":      {token, "", 429},
		"above it, of a part":  {token, "--b\r\nContent-Disposition: form-data; name=\"file\"", 429},
		"a form that is wrong": {teststack.Issuer(t).Token(devissuer.Options{Account: servicetest.NewAccount()}), "--b\r\nContent-Disposition: form-data; name=\"surprise\"\r\n\r\n", 400},
	} {
		conn := upload(t, p, test.token, 200_000, "")
		fmt.Fprint(conn, test.sent)
		if resp := read(t, conn); resp.StatusCode != test.want || !resp.Close {
			t.Errorf("%s: got %s, want %d and the end of the connection", what, resp.Status, test.want)
		}
	}
}
