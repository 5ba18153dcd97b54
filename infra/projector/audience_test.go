package projector_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/infra/projector"
	"netsim/internal/testworld"
)

// A projector notifies while another process listens, and only then.
func TestNotificationsAreForOtherProcesses(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	conn, err := pgx.Connect(t.Context(), s.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // it only listened
	if _, err := conn.Exec(t.Context(), "LISTEN netsim_"+projector.NameOf(s.Projector(s.DB, projector.Live).Fingerprint())+"; LISTEN marker"); err != nil {
		t.Fatal(err)
	}
	notified := func() bool { // of a new workspace
		t.Helper()
		id, err := s.createWorkspace(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "SELECT pg_notify('marker', $1)", id); err != nil {
			t.Fatal(err)
		}
		for count := 0; ; count++ {
			n, err := conn.WaitForNotification(t.Context())
			switch {
			case err != nil:
				t.Fatal(err)
			case n.Payload == id:
				return count > 0
			case n.Payload == "listening":
				count--
			}
		}
	}
	testworld.Await(t, func() bool { return !notified() })
	other := s.Connect(t)
	other.Watcher = projector.NewWatcher(other.DB, other.Logger)
	testworld.Running(t, other.Watcher.Run)
	testworld.Await(t, notified)
}
