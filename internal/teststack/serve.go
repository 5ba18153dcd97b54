package teststack

import (
	"crypto/tls"
	"net"
	"testing"
)

// Serve listens at a free address of this machine, by TLS unless c is nil, until the test
// ends. It calls handle in a goroutine for each connection, and closes the connection
// afterwards. It returns the address, host:port.
func Serve(t testing.TB, c *tls.Config, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if c != nil {
		l = tls.NewListener(l, c)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return l.Addr().String()
}
