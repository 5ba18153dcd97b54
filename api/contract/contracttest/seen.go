package contracttest

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"netsim/api/contract"
)

// seen records the responses that the tests of this process got from the service.
var seen struct {
	sync.Mutex
	pairs map[string]bool
	file  *os.File
}

// Saw records that the service, not a substitute for it, responded to the request
// with this status. It writes one file for each package into the directory that
// NETSIM_CONTRACT_SEEN names, and command unseen reads these files. Each test run of a
// package replaces its file. When Go returns a cached test result, the file of the
// cached run stays.
func Saw(t testing.TB, req *http.Request, status int) {
	t.Helper()
	dir := os.Getenv("NETSIM_CONTRACT_SEEN")
	if dir == "" {
		return
	}
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	op, ok := c.Find(req)
	if !ok {
		return
	}
	seen.Lock()
	defer seen.Unlock()
	if err := note(dir, fmt.Sprintf("%s %d\n", op.ID, status)); err != nil {
		t.Errorf("record the response: %v", err)
	}
}

func note(dir, pair string) error {
	if seen.file == nil {
		here, err := os.Getwd() // the package's directory
		if err != nil {
			return err
		}
		// Go's test cache watches os.Create, and does not cache the result of a test
		// that opens a file written just before.
		path := filepath.Join(dir, url.PathEscape(here))
		fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_WRONLY|syscall.O_TRUNC|syscall.O_CLOEXEC, 0o644)
		if err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
		seen.file, seen.pairs = os.NewFile(uintptr(fd), path), map[string]bool{}
	}
	if seen.pairs[pair] {
		return nil
	}
	seen.pairs[pair] = true
	_, err := seen.file.WriteString(pair)
	return err
}
