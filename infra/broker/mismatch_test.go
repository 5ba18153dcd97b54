package broker_test

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"netsim/infra/broker"
	"netsim/infra/eventlog"
	"netsim/internal/teststack"
)

// forUsers answers the question for versions, and closes the connection at any other, as
// Kafka's listeners for users of SASL do.
func forUsers(conn net.Conn) {
	for {
		var head struct {
			Size         int32
			Key, Version int16
			Correlation  int32
		}
		if binary.Read(conn, binary.BigEndian, &head) != nil || head.Key != 18 {
			return
		}
		if _, err := io.CopyN(io.Discard, conn, int64(head.Size)-8); err != nil {
			return
		}
		body := []byte{0, 0, 0, 0, 0, 0} // no error, and no versions
		if head.Version == 3 {
			body = []byte{0, 0, 1, 0, 0, 0, 0, 0}
		}
		if binary.Write(conn, binary.BigEndian, []int32{4 + int32(len(body)), head.Correlation}) != nil || binary.Write(conn, binary.BigEndian, body) != nil {
			return
		}
	}
}

// TestOnlyAnAnswerIsAHint: a listener that closes connections is a refusal of the settings
// only if it answers in another way. One that answers nothing is waited for: a broker that
// starts, or a TCP proxy whose broker is down. Both the log and the doctor say which.
func TestOnlyAnAnswerIsAHint(t *testing.T) {
	t.Parallel()
	authority := teststack.NewAuthority(t, t.TempDir(), "authority")
	own := authority.Issue("listener", teststack.Certificate{Name: "listener", Hosts: []string{"127.0.0.1"}})
	pair, err := tls.LoadX509KeyPair(own.Cert, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	secure := func(serve func(net.Conn)) func(net.Conn) {
		return func(conn net.Conn) {
			server := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}})
			if server.HandshakeContext(t.Context()) == nil {
				serve(server)
			}
		}
	}
	trust := &broker.TLS{CA: authority.File}
	user := &broker.SASL{Mechanism: broker.SCRAM512, User: "u", Password: "hidden"}
	nothing := teststack.Serve(t, nil, func(net.Conn) {})
	for name, c := range map[string]struct {
		address string
		config  broker.Config
		refused bool
		want    string
	}{
		"TLS is wanted":           {teststack.Serve(t, nil, secure(forUsers)), broker.Config{}, true, "speaks TLS, which the settings do not use"},
		"a user is wanted":        {teststack.Serve(t, nil, forUsers), broker.Config{}, true, "wants a user by SASL"},
		"a user over TLS":         {teststack.Serve(t, nil, secure(forUsers)), broker.Config{TLS: trust}, true, "wants a user by SASL"},
		"TLS is not wanted":       {teststack.Serve(t, nil, forUsers), broker.Config{TLS: trust}, true, "has no TLS, which the settings use"},
		"nothing answers":         {nothing, broker.Config{}, false, "closed before an answer"},
		"nothing answers TLS":     {nothing, broker.Config{TLS: trust}, false, "the TLS handshake with the broker at " + nothing},
		"nothing answers a user":  {nothing, broker.Config{TLS: trust, SASL: user}, false, "the TLS handshake with the broker at " + nothing},
		"nothing answers in TLS":  {teststack.Serve(t, nil, secure(func(net.Conn) {})), broker.Config{TLS: trust}, false, "closed before an answer"},
		"nothing answers in SASL": {teststack.Serve(t, nil, secure(func(net.Conn) {})), broker.Config{TLS: trust, SASL: user}, false, "closed before an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, err := broker.New(c.config)
			if err != nil {
				t.Fatal(err)
			}
			log := eventlog.Config{Brokers: []string{c.address}, Connect: to}
			_, opened := eventlog.Open(t.Context(), log)
			_, asked := eventlog.AskBroker(t.Context(), log, c.address, nil)
			for from, err := range map[string]error{"the log": opened, "the doctor": asked} {
				if err == nil || broker.Refused(err) != c.refused || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden") {
					t.Errorf("%s: %v (refused: %t), want %q, refused: %t", from, err, broker.Refused(err), c.want, c.refused)
				}
			}
		})
	}
}
