package broker

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// ExplainClosed is Explain for the first connection, with the addresses that were tried. A
// listener that wants another way to connect closes the connection without an answer; so do
// a broker that starts or ends, and a TCP proxy whose broker is down. Only an answer tells
// them apart, so the listeners are asked in the other ways. Without one, the error is no
// refusal, and another try may succeed.
func (n *Connector) ExplainClosed(ctx context.Context, addresses []string, err error) error {
	explained := n.Explain(err)
	if err == nil || !closed(err) {
		return explained
	}
	for _, address := range addresses {
		if wants := n.otherWay(ctx, address); wants != "" {
			return refusedError{sentence: fmt.Sprintf("the listener at %s %s", address, wants), cause: err, answered: true}
		}
	}
	if _, known := errors.AsType[refusedError](explained); known {
		return explained
	}
	return fmt.Errorf("the connection was closed before an answer, as a broker does that starts or ends, or a proxy whose broker is down: %w", err)
}

// otherWay returns what the listener at the address wants, if it answers in another way than
// in that of the settings, or "".
func (n *Connector) otherWay(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout+handshakeTimeout)
	defer cancel()
	plain := func() (net.Conn, error) { return n.connect(ctx, "tcp", address) }
	switch {
	case !n.Secure() && answersHello(ctx, plain):
		return "speaks TLS, which the settings do not use"
	case n.Secure():
		if versions, _ := asks(plain); versions {
			return "has no TLS, which the settings use"
		}
	}
	if n.mechanismName() == "" {
		// Before a user is authenticated, only the question for versions is answered.
		own := func() (net.Conn, error) { return n.Dial(ctx, "tcp", address) }
		if versions, metadata := asks(own); versions && !metadata {
			return "wants a user by SASL, which the settings do not have"
		}
	}
	return ""
}

// answersHello reports whether the other side answers the first message of TLS, with
// whatever certificate or alert.
func answersHello(ctx context.Context, dial func() (net.Conn, error)) bool {
	conn, err := dial()
	if err != nil {
		return false
	}
	defer conn.Close()                                                //nolint:errcheck // nothing is sent
	secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // only whether there is an answer counts
	err = secure.HandshakeContext(ctx)
	alert, ok := errors.AsType[*net.OpError](err)
	return err == nil || ok && alert.Op == "remote error"
}

// asks reports whether the other side answers the protocol's question for the versions of
// requests, and then, on the same connection, the one for metadata.
func asks(dial func() (net.Conn, error)) (versions, metadata bool) {
	const apiVersions, getMetadata = 18, 3
	conn, err := dial()
	if err != nil {
		return false, false
	}
	defer conn.Close()                                 //nolint:errcheck // nothing more is sent
	conn.SetDeadline(time.Now().Add(handshakeTimeout)) //nolint:errcheck // reading fails then
	versions = ask(conn, apiVersions, 0) == nil        //
	none := []byte{0, 0, 0, 0}                         // topics
	return versions, versions && ask(conn, getMetadata, 1, none...) == nil
}

// ask sends a request of the protocol and reads its answer.
func ask(conn net.Conn, key, version int16, body ...byte) error {
	const correlation, client, most = 1, "netsim", 16 << 20
	var request bytes.Buffer
	for _, field := range []any{int32(2 + 2 + 4 + 2 + len(client) + len(body)), key, version, int32(correlation), int16(len(client)), []byte(client), body} {
		binary.Write(&request, binary.BigEndian, field) //nolint:errcheck // a buffer takes it
	}
	if _, err := conn.Write(request.Bytes()); err != nil {
		return err
	}
	var head struct{ Size, Correlation int32 }
	if err := binary.Read(conn, binary.BigEndian, &head); err != nil {
		return err
	}
	if head.Size < 4 || head.Size > most || head.Correlation != correlation {
		return errors.New("not an answer of Kafka")
	}
	_, err := io.CopyN(io.Discard, conn, int64(head.Size)-4)
	return err
}
