package cluster

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"netsim/internal/teststack"
)

// echo is a server that sends back each line, then 128 KiB.
func echo(t *testing.T) string {
	t.Helper()
	return teststack.Serve(t, nil, func(conn net.Conn) {
		lines := bufio.NewScanner(conn)
		for lines.Scan() {
			fmt.Fprintln(conn, lines.Text())
			fmt.Fprint(conn, strings.Repeat(".", 128<<10)+"\n")
		}
	})
}

// ask sends a line and reads the answer.
func ask(address string, timeout time.Duration) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(conn, "hello"); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	for range 2 {
		if _, err := in.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}

// Each trouble but the slow ones keeps an answer from arriving, and after Heal answers
// arrive again.
func TestALinkIsDisturbedAndHealed(t *testing.T) {
	t.Parallel()
	l := newLinks()
	if err := l.open("a", "b", "127.0.0.1:0", echo(t)); err != nil {
		t.Fatal(err)
	}
	link := l.all[0]
	t.Cleanup(link.proxy.Stop)
	for _, trouble := range Troubles() {
		if err := ask(link.proxy.Listen, time.Minute); err != nil {
			t.Fatalf("before %s: %v", trouble, err)
		}
		if err := link.Disturb(trouble); err != nil {
			t.Fatal(err)
		}
		slow := trouble == Slow || trouble == Narrow
		timeout := time.Second
		if slow {
			timeout = time.Minute
		}
		if err := ask(link.proxy.Listen, timeout); (err == nil) != slow {
			t.Errorf("%s: the answer is %v", trouble, err)
		}
		if err := link.Heal(); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(link.proxy.Listen, time.Minute); err != nil {
		t.Errorf("after all: %v", err)
	}
	if err := link.redirect(echo(t)); err != nil {
		t.Fatal(err)
	}
	if err := ask(link.proxy.Listen, time.Minute); err != nil {
		t.Errorf("after it was redirected: %v", err)
	}
}

// A front answers with the errors that it is told to, and a lost reply is of a request
// that was executed.
func TestAFrontAnswersWithErrors(t *testing.T) {
	t.Parallel()
	executed := make(chan string, 10)
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		executed <- r.Host
		fmt.Fprint(w, "stored")
	}))
	t.Cleanup(store.Close)
	address, err := newPorts().take()
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFront(address, strings.TrimPrefix(store.URL, "http://"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.server.Close() })
	for _, test := range []struct {
		faults   FrontFaults
		status   int
		executed int
	}{
		{FrontFaults{}, 200, 1},
		{FrontFaults{Refused: 1}, 503, 0},
		{FrontFaults{Lost: 1}, 502, 1},
		{FrontFaults{Late: 1, Delay: time.Millisecond}, 200, 1},
	} {
		f.Set(test.faults)
		got, err := http.Get("http://" + address + "/bucket/key")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, got.Body)
		got.Body.Close()
		if got.StatusCode != test.status || len(executed) != test.executed {
			t.Errorf("%+v: status %d, executed %d times, want %d and %d", test.faults, got.StatusCode, len(executed), test.status, test.executed)
		}
		for range test.executed {
			select {
			case host := <-executed:
				if host != address {
					t.Errorf("the store was asked for the host %s, want %s, which the signature names", host, address)
				}
			default:
			}
		}
	}
	if f.Faults() != 3 {
		t.Errorf("%d faults are counted, want 3", f.Faults())
	}
}
