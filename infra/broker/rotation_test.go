//go:build tools

package broker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/IBM/sarama"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/eventlog"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// cuttable opens connections that the test can cut.
type cuttable struct {
	mu   sync.Mutex
	open []net.Conn
}

func (c *cuttable) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open = append(c.open, conn)
	}
	return conn, err
}

func (c *cuttable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		conn.Close()
	}
	c.open = nil
}

// appends appends a record and returns its offset.
func appends(t *testing.T, log *eventlog.Kafka, n int) (int64, error) {
	return log.Append(log.Topic(events.Workspaces), 0, events.Message{Key: []byte("k"), Value: fmt.Append(nil, n)}).Wait(t.Context())
}

// TestCertificatesAreRotatedUnderLoad rotates the client certificate of a log that is
// appended to, on Apache Kafka, and cuts every connection. Every record that was
// acknowledged is in the log, at its offset.
func TestCertificatesAreRotatedUnderLoad(t *testing.T) {
	t.Parallel()
	s := kafkaStack(t)
	a := s.Authority
	file := "rotated-" + events.NewID("test")
	own := a.Issue(file, teststack.Certificate{Name: machine})
	network := &cuttable{}
	c, err := broker.New(broker.Config{TLS: &broker.TLS{CA: a.File, Cert: own.Cert, Key: own.Key}, Log: quiet, Dial: network.dial})
	if err != nil {
		t.Fatal(err)
	}
	log := openLog(t, s.Mutual, c)
	const writers = 4
	progress, stop := make(chan struct{}), make(chan struct{})
	acknowledged := make([]map[int64]int, writers)
	var working sync.WaitGroup
	for w := range writers {
		acknowledged[w] = map[int64]int{}
		working.Go(func() {
			for n := w; ; n += writers {
				if offset, err := appends(t, log, n); err == nil {
					acknowledged[w][offset] = n
				} else if !errors.Is(err, eventlog.ErrUnknown) && !errors.Is(err, eventlog.ErrNotWritten) {
					t.Error(err)
				}
				select {
				case progress <- struct{}{}:
				case <-stop:
					return
				}
			}
		})
	}
	for round := range 5 {
		for range 20 {
			testwait.Receive(t, progress, "an append")
		}
		a.Issue(file, teststack.Certificate{Name: machine})
		network.cut()
		testworld.Await(t, func() bool {
			testwait.Receive(t, progress, "an append")
			return c.Report().Reloads > int64(round)
		})
	}
	for range 20 {
		testwait.Receive(t, progress, "an append")
	}
	close(stop)
	testwait.Group(t, &working, "the writers")
	found := map[int64]string{}
	for next := int64(0); ; {
		records, end, err := log.Read(t.Context(), log.Topic(events.Workspaces), 0, next, 1<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			found[records[i].Offset], next = string(records[i].Value), records[i].Offset+1
		}
		if next >= end || len(records) == 0 {
			break
		}
	}
	count := 0
	for _, all := range acknowledged {
		for offset, n := range all {
			count++
			if found[offset] != fmt.Sprint(n) {
				t.Errorf("the acknowledged record %d is not at the offset %d: %q", n, offset, found[offset])
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d records were acknowledged", count)
	}
}

func openLog(t *testing.T, address string, c *broker.Connector) *eventlog.Kafka {
	t.Helper()
	log, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: []string{address}, Connect: c, Prefix: events.NewID("test") + ".", Partitions: 1, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	if err := log.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return log
}

// TestSessionsEnd: the broker ends sessions of OAUTHBEARER that do not authenticate again.
// Appending goes on over new connections, and no append fails.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	s := kafkaStack(t)
	way := s.ways()["OAUTHBEARER"]
	c, err := broker.New(way.config)
	if err != nil {
		t.Fatal(err)
	}
	log := openLog(t, way.address, c)
	began, n := c.Report().Handshakes, 0
	testworld.Await(t, func() bool {
		if _, err := appends(t, log, n); err != nil {
			t.Error(err)
		}
		n++
		return c.Report().Handshakes >= began+3
	})
	t.Logf("%d records", n)
}

// TestReadinessSaysWhy: a running service whose password was changed says why it is not
// ready, without the password.
func TestReadinessSaysWhy(t *testing.T) {
	t.Parallel()
	s := kafkaStack(t)
	c := servicetest.Config(t)
	users := s.grant(t, c.TopicPrefix)
	admin := s.as(everyone)
	p := servicetest.Start(t, func(own *settings.Config) {
		*own = c
		own.Partitions = 1
		admin.set(own)
		own.Roles = []string{settings.RoleAPI, settings.RoleProjector}
	})
	w := s.as(users[settings.RoleProjector])
	reader := servicetest.Start(t, func(own *settings.Config) {
		*own = p.Config
		own.Roles, own.Migrate = []string{settings.RoleProjector}, false
		w.set(own)
	})
	_, err := s.admin(t).UpsertUserScramCredentials([]sarama.AlterUserScramCredentialsUpsert{{
		Name: users[settings.RoleProjector], Mechanism: sarama.SCRAM_MECHANISM_SHA_512, Iterations: 4096, Salt: []byte("salt"), Password: []byte("another"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	testworld.Await(t, func() bool {
		reply, err := http.Get(reader.Ops + "/readyz")
		if err != nil {
			return false
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if strings.Contains(string(text), "hidden") {
			t.Errorf("the password is in %s", text)
		}
		return err == nil && strings.Contains(string(text), "the password is wrong, or the user is unknown to SCRAM-SHA-512")
	})
}
