package uploads_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/uploads"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
)

// fixture is an Uploads on real servers, with a clock that tests advance.
type fixture struct {
	*testworld.World
	*uploads.Uploads

	mu      sync.Mutex
	now     time.Time
	cleared []string // uploads whose clearing was enqueued
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{World: testworld.New(t), now: time.Now()}
	clock := func() time.Time {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.now
	}
	f.World.Commands.Now = clock
	f.Uploads = uploads.New(uploads.Config{
		Commands: f.World.Commands, DB: f.World.DB, Objects: f.World.Objects, Locks: postgres.Locks{Pool: f.World.DB},
		Log: testworld.Silent(), Now: clock, Lifetime: 24 * time.Hour, LockTimeout: time.Minute,
		EnqueueClear: func(_ context.Context, upload string) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.cleared = append(f.cleared, upload)
			return nil
		},
	})
	t.Cleanup(f.Uploads.Close)
	return f
}

// later advances the clock.
func (f *fixture) later(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// open opens a session of one file, and uploads the content unless it is empty.
func (f *fixture) open(t *testing.T, kind, content string) (upload string, parts []api.UploadedPart) {
	t.Helper()
	upload = events.NewID(events.UploadPrefix)
	err := f.Open(t.Context(), handle.Target{Stream: upload, PartitionKey: events.DefaultWorkspace}, handle.Origin{Actor: "tester"},
		events.UploadOpened{
			Kind: kind, AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace, Name: "upload", TTLDays: 7,
			Files: []events.UploadFile{{Name: "a.0.et", ContentType: "text/plain", Role: events.RolePrimary, Size: int64(len(content))}},
		})
	if err != nil {
		t.Fatal(err)
	}
	links, _, err := f.Links(t.Context(), upload)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, links[0].Parts[0].URL, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it is not read
	return upload, []api.UploadedPart{{PartNumber: 1, Etag: reply.Header.Get("ETag")}}
}

func (f *fixture) row(t *testing.T, upload string) projections.Upload {
	t.Helper()
	row, err := projections.FindUpload(t.Context(), f.World.DB, upload)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// staged counts the staged objects of an upload.
func (f *fixture) staged(t *testing.T, upload string) (n int) {
	t.Helper()
	for _, err := range f.World.Objects.List(t.Context(), "staging/"+upload+"/") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	for _, err := range f.World.Objects.ListBegun(t.Context(), "staging/"+upload+"/") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func (f *fixture) completeTraceset(t *testing.T, upload string, parts []api.UploadedPart) (string, error) {
	t.Helper()
	id, _, err := f.CompleteTraceset(t.Context(), upload, []api.UploadedFile{{Name: "a.0.et", Parts: parts}}, handle.Origin{Actor: "tester"})
	return id, err
}

// TestSessionsExpire: an expired session is aborted and its staged objects are
// removed, unless it is being completed.
func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	late, parts := f.open(t, events.UploadTraceset, "late")
	file, fileParts := f.open(t, events.UploadMappingFile, "0,0\n")
	if err := f.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.row(t, late).Status != commands.UploadOpen || f.staged(t, late) == 0 {
		t.Fatal("a session expired before its end")
	}
	f.later(24 * time.Hour)
	young, youngParts := f.open(t, events.UploadTraceset, "young")
	busy, busyParts := f.open(t, events.UploadTraceset, "busy")
	f.later(24*time.Hour - time.Minute)
	gone := func() {
		t.Helper()
		if _, err := f.completeTraceset(t, late, parts); !fault.Is(err, fault.Gone) {
			t.Errorf("complete the expired traceset: %v, want gone", err)
		}
		if _, _, err := f.CompleteMappingFile(t.Context(), file, fileParts, handle.Origin{}); !fault.Is(err, fault.Gone) {
			t.Errorf("complete the expired mapping file: %v, want gone", err)
		}
	}
	gone()
	for range 2 {
		if err := f.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	gone()
	for _, id := range []string{late, file} {
		if row := f.row(t, id); row.Status != commands.UploadAborted || row.Reason != "expired" || f.staged(t, id) > 0 {
			t.Errorf("%s is %s (%s) with %d staged objects, want aborted (expired) with none", id, row.Status, row.Reason, f.staged(t, id))
		}
	}
	if _, err := f.completeTraceset(t, young, youngParts); err != nil {
		t.Errorf("complete a session that has not expired: %v", err)
	}
	// A session that is being completed does not expire.
	release, err := postgres.Locks{Pool: f.World.DB}.Try(t.Context(), busy)
	if err != nil {
		t.Fatal(err)
	}
	f.later(time.Hour)
	if err := f.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.row(t, busy).Status != commands.UploadOpen {
		t.Error("a session expired while it was being completed")
	}
	release()
	f.later(-time.Hour)
	if _, err := f.completeTraceset(t, busy, busyParts); err != nil {
		t.Errorf("complete the session after its lock was released: %v", err)
	}
}

// TestTheSweepLeavesWhatIsNeeded: staged objects of no upload are removed after
// two session lifetimes; those that an upload needs are kept.
func TestTheSweepLeavesWhatIsNeeded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	direct := events.NewID(events.UploadPrefix)
	if _, err := f.Stage(t.Context(), direct, "a.0.et", "text/plain", strings.NewReader("left behind")); err != nil {
		t.Fatal(err)
	}
	dead := events.NewID(events.UploadPrefix)
	if _, err := f.World.Objects.BeginParts(t.Context(), "staging/"+dead+"/a", "text/plain"); err != nil {
		t.Fatal(err)
	}
	f.later(47 * time.Hour)
	recent, _ := f.open(t, events.UploadTraceset, "recent")
	sweep := func(left int) {
		t.Helper()
		if err := f.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a, b := f.staged(t, direct), f.staged(t, dead); a != left || b != left {
			t.Errorf("%d and %d objects are still staged, want %d each", a, b, left)
		}
	}
	sweep(1)
	f.later(2 * time.Hour)
	sweep(0)
	if f.staged(t, recent) != 1 {
		t.Error("the sweep removed an object of an open session")
	}
}

// TestAnInterruptedCompletionIsFinished: when a process dies after it recorded
// that an upload is completed, the reaction finishes the completion.
func TestAnInterruptedCompletionIsFinished(t *testing.T) {
	t.Parallel()
	for kind, content := range map[string]string{events.UploadTraceset: "trace", events.UploadMappingFile: "0,0\n1,1\n"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			upload, parts := f.open(t, kind, content)
			row := f.row(t, upload)
			join(t, f, &row, parts)
			completed := events.UploadCompleted{ResultID: row.ResultID}
			testworld.Do(t, f.World, upload, commands.Command[commands.Upload](commands.CompleteUpload{ID: upload, Completed: completed}))
			fact := events.Fact{Event: events.Event{Frame: events.Frame{Stream: upload, PartitionKey: events.DefaultWorkspace}, Data: completed}}
			for range 2 {
				if err := f.React(t.Context(), fact); err != nil {
					t.Fatal(err)
				}
			}
			if result, duplicate, err := f.Finish(t.Context(), upload); result != row.ResultID || duplicate || err != nil {
				t.Errorf("finish: result %s, duplicate %t, %v, want %s", result, duplicate, err, row.ResultID)
			}
			key := ""
			if kind == events.UploadTraceset {
				made, err := projections.FindTraceset(t.Context(), f.World.DB, row.ResultID)
				if err != nil || made.TotalSize != int64(len(content)) || made.Status != commands.TracesetProcessing {
					t.Fatalf("%+v, %v", made, err)
				}
				if _, again, err := f.CompleteTraceset(t.Context(), upload, nil, handle.Origin{}); again || err != nil {
					t.Errorf("complete again: fresh %t, %v, want false", again, err)
				}
			} else {
				made, err := projections.FindMappingFile(t.Context(), f.World.DB, row.ResultID)
				if err != nil || made.RankCount != 2 {
					t.Fatalf("%+v, %v", made, err)
				}
				key = made.ObjectKey
			}
			if len(f.cleared) != 2 || f.cleared[0] != upload {
				t.Errorf("clearing was enqueued for %v, want %s twice", f.cleared, upload)
			}
			for range 2 {
				if err := f.Clear(t.Context(), upload); err != nil {
					t.Fatal(err)
				}
			}
			if f.staged(t, upload) > 0 {
				t.Error("staged files remain")
			}
			if key != "" {
				body, _, err := f.World.Objects.Get(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				defer body.Close() //nolint:errcheck // it was only read
				if stored, err := io.ReadAll(body); string(stored) != content || err != nil {
					t.Errorf("stored %q, %v, want %q", stored, err, content)
				}
			}
		})
	}
}

// join joins the one file of a session, as a completion does.
func join(t *testing.T, f *fixture, row *projections.Upload, parts []api.UploadedPart) {
	t.Helper()
	key, id := "", ""
	for b, err := range f.World.Objects.ListBegun(t.Context(), "staging/"+row.ID+"/") {
		if err != nil {
			t.Fatal(err)
		}
		key, id = b.Key, b.ID
	}
	if err := f.World.Objects.JoinParts(t.Context(), key, id, []objects.Part{{Number: 1, ETag: parts[0].Etag}}); err != nil {
		t.Fatal(err)
	}
}

// An upload whose staged objects are lost fails permanently.
func TestLostPartsFailTheUpload(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	upload, parts := f.open(t, events.UploadTraceset, "lost")
	for b, err := range f.World.Objects.ListBegun(t.Context(), "staging/"+upload+"/") {
		if err != nil {
			t.Fatal(err)
		}
		if err := f.World.Objects.DropParts(t.Context(), b.Key, b.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.completeTraceset(t, upload, parts); fault.CodeOf(err) != fault.Internal || err == nil {
		t.Errorf("complete without parts: %v, want an internal error", err)
	}
	if row := f.row(t, upload); row.Status != commands.UploadAborted || row.Reason != "storage" {
		t.Errorf("%s (%s), want aborted (storage)", row.Status, row.Reason)
	}
	if _, err := f.completeTraceset(t, upload, parts); !fault.Is(err, fault.Validation) {
		t.Errorf("complete it again: %v, want a validation error", err)
	}
}

// A completion continues when its request ends, and Close waits for it.
func TestACompletionOutlastsItsRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	upload, parts := f.open(t, events.UploadTraceset, "slow")
	release, err := postgres.Locks{Pool: f.World.DB}.Try(t.Context(), upload)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error)
	go func() {
		_, _, err := f.CompleteTraceset(ctx, upload, []api.UploadedFile{{Name: "a.0.et", Parts: parts}}, handle.Origin{CommandID: "waiting"})
		answered <- err
	}()
	cancel()
	if err := testwait.Receive(t, answered, "the answer"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the request: %v, want unavailable", err)
	}
	release()
	testworld.Await(t, func() bool { return f.row(t, upload).Status == commands.UploadCompleted })
	testworld.Await(t, func() bool {
		_, err := projections.FindTraceset(t.Context(), f.World.DB, f.row(t, upload).ResultID)
		return err == nil
	})
}
