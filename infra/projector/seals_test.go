package projector_test

import (
	"context"
	"strings"
	"testing"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

func writerKeys(t *testing.T, digits ...string) *events.WriterKeys {
	t.Helper()
	var texts []string
	for _, d := range digits {
		texts = append(texts, strings.Repeat(d, 32))
	}
	keys, err := events.ParseWriterKeys(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// seal appends a LogSealed, sealed by the first key, to every partition of workspaces.
func (s stack) seal(t *testing.T, keys *events.WriterKeys) {
	t.Helper()
	s.Commands.Keys = keys
	for partition := range s.WriteLog.Partitions[events.Workspaces] {
		stream := events.SealStream(events.Workspaces, partition, s.WriteLog.Partitions[events.Workspaces])
		_, err := handle.Command(t.Context(), s.Commands, handle.Target{Stream: stream, PartitionKey: stream},
			handle.Origin{Actor: events.System}, commands.SealLog{KeyID: keys.Signer()})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSealsAreDemandedFromAPositionOn: a log begins without seals, then demands
// them, then rotates keys. Facts remain facts, and a rebuilt read model agrees.
func TestSealsAreDemandedFromAPositionOn(t *testing.T) {
	t.Parallel()
	s := stack{testworld.NewServers(t).Connect(t)}
	both := func(c *projector.Config) { c.Keys = writerKeys(t, "aa", "bb") }
	testworld.Running(t, s.Projector(s.DB, projector.Live, both).Run)
	s.Listen(t)

	written := 0
	create := func(when string, keys *events.WriterKeys, fact bool) {
		t.Helper()
		s.Commands.Keys = keys
		_, err := s.createWorkspace(t.Context(), when)
		if fact {
			written++
		}
		if (err == nil) != fact || !fact && !strings.Contains(err.Error(), "does not accept this process's seal") {
			t.Errorf("%s: %v", when, err)
		}
	}
	create("without a seal before any seal is demanded", nil, true)
	create("sealed by an unknown key before any seal is demanded", writerKeys(t, "cc"), true)
	s.seal(t, writerKeys(t, "aa"))
	s.seal(t, writerKeys(t, "aa")) // repeating it changes nothing
	create("without a seal", nil, false)
	create("sealed by an unknown key", writerKeys(t, "cc"), false)
	create("sealed", writerKeys(t, "aa"), true)
	create("sealed by another accepted key", writerKeys(t, "bb"), true)
	s.seal(t, writerKeys(t, "bb"))
	create("sealed by a retired key", writerKeys(t, "aa"), false)
	create("sealed by the new key", writerKeys(t, "bb"), true)

	var rows, forged int
	if err := s.DB.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM workspaces), (SELECT count(*) FROM rejected WHERE verdict = 'forged')`).Scan(&rows, &forged); err != nil {
		t.Fatal(err)
	}
	if rows != written || forged != 3 {
		t.Errorf("%d workspaces, %d forged; want %d and 3", rows, forged, written)
	}
	again := s.Projector(s.Pool(t, "again"), "again", both)
	if _, err := again.Rebuild(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if c, err := again.Diff(t.Context()); err != nil || len(c.Differences) > 0 {
		t.Errorf("the rebuilt read model differs: %v, %v", c.Differences, err)
	}
	// A process without keys cannot judge such a log: it must not try.
	_, err := s.Projector(s.Pool(t, "keyless"), "keyless").Rebuild(t.Context(), false)
	if err == nil || !strings.Contains(err.Error(), "NETSIM_WRITER_KEYS") {
		t.Errorf("without keys: %v", err)
	}
}

// TestAnotherProjectorDemandsTheSameSeals: what a partition demands is stored
// with its offset, so the next projector demands it too.
func TestAnotherProjectorDemandsTheSameSeals(t *testing.T) {
	t.Parallel()
	s := stack{testworld.NewServers(t).Connect(t)}
	project := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		p := s.Projector(s.DB, projector.Live, func(c *projector.Config) { c.Keys = writerKeys(t, "aa") })
		go func() { ended <- p.RunWithoutLock(ctx) }()
		return func() {
			cancel()
			if err := testwait.Receive(t, ended, "the projector to end"); err != nil {
				t.Error(err)
			}
		}
	}
	stop := project()
	s.Listen(t)
	s.seal(t, writerKeys(t, "aa"))
	stop()
	defer project()()
	s.Commands.Keys = nil
	if _, err := s.createWorkspace(t.Context(), "without a seal"); err == nil || !strings.Contains(err.Error(), "does not accept this process's seal") {
		t.Errorf("without a seal: %v", err)
	}
}
