package service_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// TestAStartThatIsRefusedEnds: what waiting cannot mend ends a start at once.
func TestAStartThatIsRefusedEnds(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	u, err := url.Parse(c.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/nowhere"
	c.Postgres = u.String()
	b := servicetest.Begin(t, c)
	err = testwait.Receive(t, b.Outcome, "the service to end")
	if want := `database "nowhere" does not exist`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the service ended with %v, want an error with %q", err, want)
	}
	if b.Log.Count("the start waits") > 0 {
		t.Error("the start waited for a database that does not exist")
	}
}

// TestAStartWaitsForABoundedTime: after NETSIM_START_TIMEOUT the service ends with the
// reason. When it is asked to end earlier, it ends without an error.
func TestAStartWaitsForABoundedTime(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	c.Postgres = "postgres://netsim@" + teststack.FreeAddress(t) + "/netsim"
	b := servicetest.Begin(t, c)
	b.Waits("connection refused")
	b.Ends()

	c.StartTimeout = time.Nanosecond
	err := testwait.Receive(t, servicetest.Begin(t, c).Outcome, "the service to end")
	for _, want := range []string{"NETSIM_START_TIMEOUT", "no PostgreSQL answers", "connection refused"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the service ended with %v, want an error with %q", err, want)
		}
	}
}

// TestAStartWaitsBehindAProxy: a TCP proxy whose broker is down accepts connections and
// closes them. A start waits for it, with TLS or without, and goes on with the broker.
func TestAStartWaitsBehindAProxy(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	proxy := teststack.NewProxy(t, c.Kafka[0])
	proxy.Refuse()
	c.Kafka = []string{proxy.Addr}
	secure := c
	secure.KafkaTLS = true
	b := servicetest.Begin(t, secure)
	b.Waits("the TLS handshake")
	b.Ends()

	b = servicetest.Begin(t, c)
	b.Waits("closed before an answer")
	proxy.Heal()
	b.Serves()
}
