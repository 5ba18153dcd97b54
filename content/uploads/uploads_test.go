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

// yard is an Uploads on real servers, with a clock of its own.
type yard struct {
	*testworld.World
	*uploads.Uploads

	mu      sync.Mutex
	now     time.Time
	cleared []string // enqueued
}

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{World: testworld.New(t), now: time.Now()}
	clock := func() time.Time {
		y.mu.Lock()
		defer y.mu.Unlock()
		return y.now
	}
	y.World.Commands.Now = clock
	y.Uploads = uploads.New(uploads.Config{
		Commands: y.World.Commands, DB: y.World.DB, Objects: y.World.Objects, Locks: postgres.Locks{Pool: y.World.DB},
		Log: testworld.Silent(), Now: clock, Lifetime: 24 * time.Hour, LockTimeout: time.Minute,
		EnqueueClear: func(_ context.Context, upload string) error {
			y.mu.Lock()
			defer y.mu.Unlock()
			y.cleared = append(y.cleared, upload)
			return nil
		},
	})
	t.Cleanup(y.Uploads.Close)
	return y
}

// later advances the clock.
func (y *yard) later(d time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.now = y.now.Add(d)
}

// open opens a session of one file, and uploads the content unless it is empty.
func (y *yard) open(t *testing.T, kind, content string) (upload string, parts []api.UploadedPart) {
	t.Helper()
	upload = events.NewID(events.UploadPrefix)
	err := y.Open(t.Context(), handle.Target{Stream: upload, PartitionKey: events.DefaultWorkspace}, handle.Origin{Actor: "tester"},
		events.UploadOpened{
			Kind: kind, AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace, Name: "upload", TTLDays: 7,
			Files: []events.UploadFile{{Name: "a.0.et", ContentType: "text/plain", Role: events.RolePrimary, Size: int64(len(content))}},
		})
	if err != nil {
		t.Fatal(err)
	}
	links, _, err := y.Links(t.Context(), upload)
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

func (y *yard) row(t *testing.T, upload string) projections.Upload {
	t.Helper()
	row, err := projections.FindUpload(t.Context(), y.World.DB, upload)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// staged counts the staged objects of an upload.
func (y *yard) staged(t *testing.T, upload string) (n int) {
	t.Helper()
	for _, err := range y.World.Objects.List(t.Context(), "staging/"+upload+"/") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	for _, err := range y.World.Objects.ListBegun(t.Context(), "staging/"+upload+"/") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func (y *yard) completeTraceset(t *testing.T, upload string, parts []api.UploadedPart) (string, error) {
	t.Helper()
	id, _, err := y.CompleteTraceset(t.Context(), upload, []api.UploadedFile{{Name: "a.0.et", Parts: parts}}, handle.Origin{Actor: "tester"})
	return id, err
}

func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	late, parts := y.open(t, events.UploadTraceset, "late")
	file, fileParts := y.open(t, events.UploadMappingFile, "0,0\n")
	if err := y.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if y.row(t, late).Status != commands.UploadOpen || y.staged(t, late) == 0 {
		t.Fatal("a session expired before its end")
	}
	y.later(24 * time.Hour)
	young, youngParts := y.open(t, events.UploadTraceset, "young")
	busy, busyParts := y.open(t, events.UploadTraceset, "busy")
	y.later(24*time.Hour - time.Minute)
	gone := func() {
		t.Helper()
		if _, err := y.completeTraceset(t, late, parts); !fault.Is(err, fault.Gone) {
			t.Errorf("complete the traceset: %v", err)
		}
		if _, _, err := y.CompleteMappingFile(t.Context(), file, fileParts, handle.Origin{}); !fault.Is(err, fault.Gone) {
			t.Errorf("complete the mapping file: %v", err)
		}
	}
	gone()
	for range 2 {
		if err := y.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	gone()
	for _, id := range []string{late, file} {
		if row := y.row(t, id); row.Status != commands.UploadAborted || row.Reason != "expired" || y.staged(t, id) > 0 {
			t.Errorf("%s is %s (%s), %d staged", id, row.Status, row.Reason, y.staged(t, id))
		}
	}
	if _, err := y.completeTraceset(t, young, youngParts); err != nil {
		t.Errorf("complete a young one: %v", err)
	}
	// A session that is being completed does not expire.
	release, err := postgres.Locks{Pool: y.World.DB}.Try(t.Context(), busy)
	if err != nil {
		t.Fatal(err)
	}
	y.later(time.Hour)
	if err := y.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if y.row(t, busy).Status != commands.UploadOpen {
		t.Error("a session expired that was being completed")
	}
	release()
	y.later(-time.Hour)
	if _, err := y.completeTraceset(t, busy, busyParts); err != nil {
		t.Errorf("complete the busy one: %v", err)
	}
}

// TestTheSweepLeavesWhatIsNeeded: after two session lifetimes, staged objects of no
// upload are removed, and those that an upload needs are kept.
func TestTheSweepLeavesWhatIsNeeded(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	direct := events.NewID(events.UploadPrefix)
	if _, err := y.Stage(t.Context(), direct, "a.0.et", "text/plain", strings.NewReader("left behind")); err != nil {
		t.Fatal(err)
	}
	dead := events.NewID(events.UploadPrefix)
	if _, err := y.World.Objects.BeginParts(t.Context(), "staging/"+dead+"/a", "text/plain"); err != nil {
		t.Fatal(err)
	}
	y.later(47 * time.Hour)
	recent, _ := y.open(t, events.UploadTraceset, "recent")
	sweep := func(left int) {
		t.Helper()
		if err := y.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a, b := y.staged(t, direct), y.staged(t, dead); a != left || b != left {
			t.Errorf("%d and %d stay staged, want %d each", a, b, left)
		}
	}
	sweep(1)
	y.later(2 * time.Hour)
	sweep(0)
	if y.staged(t, recent) != 1 {
		t.Error("what an open session needs is gone")
	}
}

// TestAnInterruptedCompletionIsFinished: a process dies after it has recorded that
// an upload is completed.
func TestAnInterruptedCompletionIsFinished(t *testing.T) {
	t.Parallel()
	for kind, content := range map[string]string{events.UploadTraceset: "trace", events.UploadMappingFile: "0,0\n1,1\n"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			upload, parts := y.open(t, kind, content)
			row := y.row(t, upload)
			join(t, y, &row, parts)
			completed := events.UploadCompleted{ResultID: row.ResultID}
			testworld.Do(t, y.World, upload, commands.Command[commands.Upload](commands.CompleteUpload{ID: upload, Completed: completed}))
			fact := events.Fact{Event: events.Event{Frame: events.Frame{Stream: upload, PartitionKey: events.DefaultWorkspace}, Data: completed}}
			for range 2 {
				if err := y.React(t.Context(), fact); err != nil {
					t.Fatal(err)
				}
			}
			if result, duplicate, err := y.Finish(t.Context(), upload); result != row.ResultID || duplicate || err != nil {
				t.Errorf("%s, %t, %v", result, duplicate, err)
			}
			key := ""
			if kind == events.UploadTraceset {
				made, err := projections.FindTraceset(t.Context(), y.World.DB, row.ResultID)
				if err != nil || made.TotalSize != int64(len(content)) || made.Status != commands.TracesetProcessing {
					t.Fatalf("%+v, %v", made, err)
				}
				if _, again, err := y.CompleteTraceset(t.Context(), upload, nil, handle.Origin{}); again || err != nil {
					t.Errorf("fresh %t, %v", again, err)
				}
			} else {
				made, err := projections.FindMappingFile(t.Context(), y.World.DB, row.ResultID)
				if err != nil || made.RankCount != 2 {
					t.Fatalf("%+v, %v", made, err)
				}
				key = made.ObjectKey
			}
			if len(y.cleared) != 2 || y.cleared[0] != upload {
				t.Errorf("enqueued %v", y.cleared)
			}
			for range 2 {
				if err := y.Clear(t.Context(), upload); err != nil {
					t.Fatal(err)
				}
			}
			if y.staged(t, upload) > 0 {
				t.Error("files stay staged")
			}
			if key != "" {
				body, _, err := y.World.Objects.Get(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				defer body.Close() //nolint:errcheck // it was only read
				if stored, err := io.ReadAll(body); string(stored) != content || err != nil {
					t.Errorf("stored %q, %v", stored, err)
				}
			}
		})
	}
}

// join joins the one file of a session, as a completion does.
func join(t *testing.T, y *yard, row *projections.Upload, parts []api.UploadedPart) {
	t.Helper()
	key, id := "", ""
	for b, err := range y.World.Objects.ListBegun(t.Context(), "staging/"+row.ID+"/") {
		if err != nil {
			t.Fatal(err)
		}
		key, id = b.Key, b.ID
	}
	if err := y.World.Objects.JoinParts(t.Context(), key, id, []objects.Part{{Number: 1, ETag: parts[0].Etag}}); err != nil {
		t.Fatal(err)
	}
}

// An upload whose staged objects are lost fails permanently.
func TestLostPartsFailTheUpload(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	upload, parts := y.open(t, events.UploadTraceset, "lost")
	for b, err := range y.World.Objects.ListBegun(t.Context(), "staging/"+upload+"/") {
		if err != nil {
			t.Fatal(err)
		}
		if err := y.World.Objects.DropParts(t.Context(), b.Key, b.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := y.completeTraceset(t, upload, parts); fault.CodeOf(err) != fault.Internal || err == nil {
		t.Errorf("complete: %v", err)
	}
	if row := y.row(t, upload); row.Status != commands.UploadAborted || row.Reason != "storage" {
		t.Errorf("%s (%s)", row.Status, row.Reason)
	}
	if _, err := y.completeTraceset(t, upload, parts); !fault.Is(err, fault.Validation) {
		t.Errorf("complete it again: %v", err)
	}
}

// A completion continues when its request ends, and Close waits for it.
func TestACompletionOutlastsItsRequest(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	upload, parts := y.open(t, events.UploadTraceset, "slow")
	release, err := postgres.Locks{Pool: y.World.DB}.Try(t.Context(), upload)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error)
	go func() {
		_, _, err := y.CompleteTraceset(ctx, upload, []api.UploadedFile{{Name: "a.0.et", Parts: parts}}, handle.Origin{CommandID: "patient"})
		answered <- err
	}()
	cancel()
	if err := testwait.Receive(t, answered, "the answer"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the request: %v", err)
	}
	release()
	testworld.Await(t, func() bool { return y.row(t, upload).Status == commands.UploadCompleted })
	testworld.Await(t, func() bool {
		_, err := projections.FindTraceset(t.Context(), y.World.DB, y.row(t, upload).ResultID)
		return err == nil
	})
}
