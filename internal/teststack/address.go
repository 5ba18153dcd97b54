package teststack

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// FreeAddress returns a free host:port for a server that must keep it over
// restarts. The port is below the ephemeral range, so that no outgoing connection
// takes it while the server is down, and no other test gets it until this process ends.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := 10_000 + rand.IntN(5_000)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			if reserve(t, port) {
				return address
			}
		}
	}
	t.Fatal("teststack: no free port was found")
	return ""
}

// reserve reports whether no test of this user has the port. The lock of the port's file,
// which is left open, ends with this process.
func reserve(t testing.TB, port int) bool {
	t.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("netsim-test-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatalf("teststack: %v", err)
	}
	fd, err := syscall.Open(filepath.Join(dir, strconv.Itoa(port)), syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatalf("teststack: %v", err)
	}
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		syscall.Close(fd) //nolint:errcheck // nothing was written
		return false
	}
	return true
}
