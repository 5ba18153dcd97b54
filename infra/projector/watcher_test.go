package projector_test

import (
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// said is a log that a test waits on.
type said chan string

func (s said) Write(line []byte) (int, error) {
	select {
	case s <- string(line):
	default:
	}
	return len(line), nil
}

// TestAWatcherOutlivesASilentServer: a watcher whose session gets no answers any more,
// and no error, gives it up and opens another.
func TestAWatcherOutlivesASilentServer(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	database, err := url.Parse(s.Database)
	if err != nil {
		t.Fatal(err)
	}
	proxy := teststack.NewProxy(t, database.Host)
	database.Host = proxy.Addr
	pool, err := postgres.Open(t.Context(), database.String(), projector.Live, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	lines := make(said, 1)
	watcher := projector.NewWatcher(pool, slog.New(slog.NewTextHandler(lines, nil)))
	testworld.Running(t, watcher.Run)
	follows := func() bool {
		records := int64(0)
		for partition := range s.Log.Partitions {
			records += watcher.Next("workspaces", partition) - s.Watcher.Next("workspaces", partition)
		}
		return records == 0
	}
	if _, err := s.createWorkspace(t.Context(), "before"); err != nil {
		t.Fatal(err)
	}
	testworld.Await(t, follows)
	proxy.Hang()
	if _, err := s.createWorkspace(t.Context(), "meanwhile"); err != nil {
		t.Fatal(err)
	}
	if line := testwait.Receive(t, lines, "the watcher to give its session up"); !strings.Contains(line, "starts again") {
		t.Errorf("the watcher logged %s", line)
	}
	proxy.Heal()
	testworld.Await(t, follows)
}
