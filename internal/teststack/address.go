package teststack

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddress returns a free host:port for a server that must keep it over
// restarts. The port is below the ephemeral range, so that no outgoing connection
// takes it while the server is down.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(5_000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("teststack: no free port was found")
	return ""
}
