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
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// TestSlowBodiesDelayNobody: requests of one account with slow bodies delay neither
// another account's writes nor its own.
func TestSlowBodiesDelayNobody(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.MaxWrites = 4 })
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
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
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
