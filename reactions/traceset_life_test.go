package reactions_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/library"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/postgres"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/reactions"
)

// life returns a TracesetLife whose clock is so many days ahead.
func (s *stand) life(days int) *reactions.TracesetLife {
	at := time.Now().AddDate(0, 0, days)
	now := func() time.Time { return at }
	return &reactions.TracesetLife{
		Commands: &handle.Handler{Log: s.WriteLog, Now: now}, DB: s.DB, Objects: s.Objects, Locks: postgres.Locks{Pool: s.DB},
		Now: now, CatchUp: func(context.Context) error { return nil },
	}
}

func (s *stand) sweep(t *testing.T, days int) {
	t.Helper()
	for range 2 {
		if err := s.life(days).Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *stand) traceset(t *testing.T, id string) projections.Traceset {
	t.Helper()
	row, err := projections.FindTraceset(t.Context(), s.DB, id)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// stored reports whether a library has objects.
func (s *stand) stored(t *testing.T, hash string) bool {
	t.Helper()
	for _, err := range s.Objects.List(t.Context(), library.Prefix(hash)) {
		if err != nil {
			t.Fatal(err)
		}
		return true
	}
	return false
}

// kept keeps a traceset of one file in a workspace, as an upload would.
func (s *stand) kept(t *testing.T, workspace, content string, change func(*events.TracesetCreated)) (id, hash string) {
	t.Helper()
	file := events.TracesetFile{Name: "a.0.et", Hash: "sha256:" + strings.Repeat(content, 64), Size: 1, Role: "primary"}
	hash = library.Hash([]events.TracesetFile{file})
	file.ObjectKey = library.Key(hash, file.Hash)
	if _, err := s.Objects.Put(t.Context(), file.ObjectKey, "", strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	made := events.TracesetCreated{
		AccountID: testworld.Account, WorkspaceID: workspace, Name: "t", Format: "chakra_et_v1", Files: []events.TracesetFile{file},
		LibraryHash: hash, TTLDays: 7, Status: commands.TracesetReady, Workload: "{}",
	}
	if change != nil {
		change(&made)
	}
	id = events.NewID(events.TracesetPrefix)
	testworld.In(t, s.World, workspace, id, commands.CreateTraceset{Created: made})
	return id, hash
}

// Source: completions 6.4.
func TestTracesetsExpire(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	used, ofUsed := s.kept(t, events.DefaultWorkspace, "1", nil)
	unused, ofUnused := s.kept(t, events.DefaultWorkspace, "2", nil)
	long, ofLong := s.kept(t, events.DefaultWorkspace, "3", func(c *events.TracesetCreated) { c.TTLDays = 30 })
	promoted, ofPromoted := s.kept(t, events.DefaultWorkspace, "4", nil)
	testworld.Do(t, s.World, promoted, commands.PromoteTraceset{ID: promoted, Target: commands.ScopeTenant})
	running, r := s.submit(t, events.DefaultWorkspace, 8)
	ofRunning := s.traceset(t, r.TracesetID).LibraryHash

	// A use postpones the expiry of a traceset that expires, at most once an hour.
	attached := events.Fact{Event: events.Event{
		Frame: events.Frame{ID: "1", Stream: events.NewID(events.ConfigurationPrefix)}, Data: events.ConfigurationTracesetAttached{TracesetID: used},
	}}
	before := *s.traceset(t, used).ExpiresAt
	react(t, s.life(0).React, attached)
	if got := *s.traceset(t, used).ExpiresAt; !got.Equal(before) {
		t.Errorf("a use within the hour: expires %s, want %s", got, before)
	}
	react(t, s.life(5).React, attached)
	if got := s.traceset(t, used).ExpiresAt.Sub(before); got < 119*time.Hour || got > 121*time.Hour {
		t.Errorf("put off by %s", got)
	}
	attached.Data = events.ConfigurationCreated{TracesetID: promoted}
	react(t, s.life(5).React, attached)
	attached.Data = events.SimulationRequested{TracesetID: events.NewID(events.TracesetPrefix)} // not created yet
	react(t, s.life(5).React, attached)

	s.sweep(t, 6)
	s.sweep(t, 8)
	want := map[string]string{used: "ready", unused: "deleted", long: "ready", promoted: "ready", r.TracesetID: "ready"}
	for id, status := range want {
		if got := s.traceset(t, id).Status; got != status {
			t.Errorf("%s, want %s", got, status)
		}
	}
	if _, err := handle.Command(t.Context(), s.Commands, handle.Target{Stream: unused, PartitionKey: events.DefaultWorkspace},
		handle.Origin{}, commands.UseTraceset{ID: unused}); !fault.Is(err, fault.NotFound) {
		t.Errorf("used after its end: %v", err)
	}
	there := map[string]bool{ofUsed: true, ofUnused: false, ofLong: true, ofPromoted: true, ofRunning: true}
	for hash, want := range there {
		if s.stored(t, hash) != want {
			t.Errorf("library %s is stored: %t", hash, !want)
		}
	}

	// Until now the unfinished simulation kept its traceset.
	testworld.Do(t, s.World, running, commands.FailSimulation{Failed: events.SimulationFailed{Reason: "test"}})
	s.sweep(t, 8)
	if s.traceset(t, r.TracesetID).Status != projections.Deleted || s.stored(t, ofRunning) {
		t.Error("it outlives the simulation that used it")
	}
}

// A library stays stored until all its tracesets are deleted and would have
// expired.
func TestLibrariesAreRemovedWithTheirLastTraceset(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	first, hash := s.kept(t, events.DefaultWorkspace, "a", nil)
	second, _ := s.kept(t, events.DefaultWorkspace, "a", func(c *events.TracesetCreated) { c.AccountID = "acct_other" })
	testworld.Do(t, s.World, first, commands.DeleteTraceset{ID: first, Reason: "request"})
	s.sweep(t, 6)
	if !s.stored(t, hash) {
		t.Fatal("another account's traceset has lost its files")
	}
	testworld.Do(t, s.World, second, commands.DeleteTraceset{ID: second, Reason: "request"})
	s.sweep(t, 6)
	if !s.stored(t, hash) {
		t.Fatal("removed before it would have expired")
	}
	release, err := postgres.Locks{Pool: s.DB}.Try(t.Context(), library.Lock(hash))
	if err != nil {
		t.Fatal(err)
	}
	s.sweep(t, 8)
	if !s.stored(t, hash) {
		t.Fatal("removed while it was locked")
	}
	release()
	if _, err := s.Objects.Put(t.Context(), "libraries/"+events.NewID(events.LibraryPrefix)+"/aa/bb", "", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	s.sweep(t, 8)
	if s.stored(t, hash) {
		t.Error("nobody needs it and it is stored")
	}
	for folder, err := range s.Objects.Folders(t.Context(), library.All) {
		if err != nil || folder == "" {
			t.Fatal(err)
		}
		return
	}
	t.Error("a library of which nothing is known was removed")
}

// A workload whose traceset expired is stored again when it is submitted again, also
// in another workspace.
func TestAnExpiredWorkloadIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	one, other := events.NewID(events.WorkspacePrefix), events.NewID(events.WorkspacePrefix)
	for i, workspace := range []string{one, other, events.DefaultWorkspace, one} {
		id, r := s.submit(t, workspace, 16)
		row := s.traceset(t, r.TracesetID)
		if row.Status != commands.TracesetReady || row.WorkspaceID != workspace || row.Partition != one || !s.stored(t, row.LibraryHash) {
			t.Fatalf("%d: %+v", i, row)
		}
		testworld.In(t, s.World, workspace, id, commands.FailSimulation{Failed: events.SimulationFailed{Reason: "test"}})
		s.sweep(t, 8)
		if row = s.traceset(t, r.TracesetID); row.Status != projections.Deleted || s.stored(t, row.LibraryHash) {
			t.Fatalf("%d has not expired: %+v", i, row)
		}
	}
}

// Deleting a workspace aborts its uploads and deletes its mapping files and
// unpromoted tracesets.
func TestAWorkspaceIsDeletedWithItsContent(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	id := events.NewID(events.WorkspacePrefix)
	testworld.In(t, s.World, id, id, commands.CreateWorkspace{AccountID: testworld.Account, Owner: "u", Name: "w"})
	own, _ := s.kept(t, id, "b", nil)
	promoted, _ := s.kept(t, id, "c", nil)
	testworld.In(t, s.World, id, promoted, commands.PromoteTraceset{ID: promoted, Target: commands.ScopeTenant})
	upload, mapping := events.NewID(events.UploadPrefix), events.NewID(events.MappingFilePrefix)
	testworld.In(t, s.World, id, upload, commands.OpenUpload{Opened: events.UploadOpened{
		Kind: events.UploadTraceset, AccountID: testworld.Account, WorkspaceID: id, ResultID: events.NewID(events.TracesetPrefix), ExpiresAt: time.Now().Add(time.Hour),
	}})
	testworld.In(t, s.World, id, mapping, commands.CreateMappingFile{Created: events.MappingFileCreated{AccountID: testworld.Account, WorkspaceID: id, Name: "m"}})
	workspace := &reactions.Workspace{Commands: s.Commands, DB: s.DB}
	react(t, workspace.React, fact(testworld.In(t, s.World, id, id, commands.DeleteWorkspace{ID: id})))

	got := map[string]string{"own": s.traceset(t, own).Status, "promoted": s.traceset(t, promoted).Status}
	if u, err := projections.FindUpload(t.Context(), s.DB, upload); err != nil || u.Status != commands.UploadAborted || u.Reason != "workspace" {
		t.Errorf("upload %+v, %v", u, err)
	}
	if m, err := projections.FindMappingFile(t.Context(), s.DB, mapping); err != nil || !m.Deleted {
		t.Errorf("mapping file %+v, %v", m, err)
	}
	if diff := cmp.Diff(map[string]string{"own": "deleted", "promoted": "ready"}, got); diff != "" {
		t.Errorf("tracesets (-want +got):\n%s", diff)
	}
}
