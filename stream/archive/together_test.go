package archive_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/fault"
	"netsim/internal/testwait"
	"netsim/stream/archive"
	"netsim/stream/export"
)

// archived returns all records of an archive, as records does for a log.
func archived(t *testing.T, a *archive.Archive) map[string][]stored {
	t.Helper()
	topics, err := a.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]stored{}
	for _, topic := range topics {
		for n, end := range topic.Ends {
			name := fmt.Sprint(topic.Family, "/", n)
			for next := int64(0); next < end; {
				got, err := a.Records(t.Context(), topic.Family, int32(n), next)
				if err != nil || len(got) == 0 {
					t.Fatalf("%s has no record at offset %d: %v", name, next, err)
				}
				for _, r := range got {
					next++
					all[name] = append(all[name], stored{
						string(r.Key), string(r.Value), r.Key == nil, r.Value == nil, fmt.Sprintf("%q", r.Headers), r.Time,
					})
				}
			}
		}
	}
	return all
}

// whole compares an archive with the log.
func (w *world) whole(t *testing.T, target archive.Target) {
	t.Helper()
	w.run(w.archiver(target))
	if diff := cmp.Diff(records(t, w.log), archived(t, w.open(target))); diff != "" {
		t.Errorf("(-log +archive):\n%.2000s", diff)
	}
}

// TestAnotherArchiverInBetween: at each step of a run, another archiver makes a run of its
// own with more records, and ends or is killed. In a bucket each segment is of one of
// them; a directory refuses the second. The archive has the log.
func TestAnotherArchiverInBetween(t *testing.T) {
	t.Parallel()
	ends := []string{"segment read", "file begun", "file written", "note written", "never"}
	for _, step := range []string{"segment read", "file begun", "file written", "note written"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 30)
			targets := map[string]archive.Target{"directory": w.directory(), "bucket": bucket(t)}
			for _, end := range ends {
				for name, target := range targets {
					first, between := w.archiver(target), false
					first.Step = func(at string) error {
						if at != step || between {
							return nil
						}
						between = true
						w.append(15)
						second := target
						if d, is := target.(*export.Directory); is {
							second = &export.Directory{Path: d.Path} // as of another process
						}
						a := w.archiver(second)
						a.Step = nth(end, 0)
						err := a.Run(t.Context())
						switch {
						case name == "directory" && fault.CodeOf(err) != fault.Conflict:
							t.Errorf("%s, %s: a second archiver: %v, want it to be refused", name, end, err)
						case name == "bucket" && end == "never" && err != nil:
							t.Errorf("%s, %s: a second archiver: %v", name, end, err)
						case name == "bucket" && end != "never" && !errors.Is(err, errKilled):
							t.Errorf("%s, %s: a second archiver: %v, want it to be killed", name, end, err)
						}
						return nil
					}
					w.append(15)
					if err := first.Run(t.Context()); err != nil && fault.CodeOf(err) != fault.Conflict {
						t.Errorf("%s, %s: the first archiver: %v", name, end, err)
					}
					if !between {
						t.Fatalf("%s, %s: no archiver ran in between", name, end)
					}
					w.whole(t, target)
				}
			}
		})
	}
}

// passed is a target whose list had passed the places of the segment files when they were
// written.
type passed struct{ archive.Target }

func (p passed) Names(ctx context.Context) ([]string, error) {
	names, err := p.Target.Names(ctx)
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, ".zst") }), err
}

// TestAnArchiveIsVerifiedWhileItIsWritten: at each step of an archiver, nothing is wrong.
func TestAnArchiveIsVerifiedWhileItIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	for name, target := range map[string]archive.Target{"directory": w.directory(), "bucket": bucket(t)} {
		w.run(w.archiver(target))
		w.append(30)
		seen := map[string]bool{}
		a := w.archiver(target)
		a.Step = func(step string) error {
			reader := target
			if d, is := target.(*export.Directory); is {
				reader = &export.Directory{Path: d.Path} // as of another process
			}
			w.open(reader)
			w.open(passed{reader})
			seen[step] = true
			return nil
		}
		w.run(a)
		if len(seen) != 4 {
			t.Errorf("%s: the archive was verified only at %v", name, seen)
		}
	}
}

// TestArchiversTogether: three archivers write to one bucket at once, and are killed now
// and then, while records are appended. The archive has the log.
func TestArchiversTogether(t *testing.T) {
	t.Parallel()
	w, target := newWorld(t, 60), bucket(t)
	var all sync.WaitGroup
	for n := range 3 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 7))
			for range 12 {
				a := w.archiver(target) // of another process
				a.SegmentBytes = 4_000 + random.IntN(20_000)
				a.Step = func(string) error {
					if random.IntN(12) == 0 {
						return errKilled
					}
					return nil
				}
				if err := a.Run(t.Context()); err != nil && !errors.Is(err, errKilled) && fault.CodeOf(err) != fault.Conflict {
					t.Error(err)
				}
			}
		})
	}
	for range 8 {
		w.append(20)
	}
	testwait.Group(t, &all, "the archivers")
	w.whole(t, target)
}

// replacing is a target that ignores the condition of Publish, as some object stores do.
type replacing struct{ *export.Bucket }

func (r replacing) Publish(ctx context.Context, name string, content []byte) error {
	return r.Replace(ctx, name, content)
}

// TestAStoreWithoutConditionsIsRefused: an archiver does not use a store that replaces
// objects although it is asked not to.
func TestAStoreWithoutConditionsIsRefused(t *testing.T) {
	t.Parallel()
	w, target := newWorld(t, 10), bucket(t)
	for _, when := range []string{"empty", "begun"} {
		a := w.archiver(replacing{target})
		if err := a.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "If-None-Match") {
			t.Errorf("%s: the error is %v", when, err)
		}
	}
	w.whole(t, target)
}

// lostAnswer is a target whose first answer to Publish is lost.
type lostAnswer struct {
	*export.Bucket
	lost bool
}

func (l *lostAnswer) Publish(ctx context.Context, name string, content []byte) error {
	err := l.Bucket.Publish(ctx, name, content)
	if err == nil && !l.lost {
		l.lost = true
		return l.Bucket.Publish(ctx, name, content) // what a client repeats
	}
	return err
}

// TestAPublishedNoteWhoseAnswerWasLost is the archiver's own, and the run goes on.
func TestAPublishedNoteWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	w, target := newWorld(t, 40), &lostAnswer{Bucket: bucket(t)}
	w.run(w.archiver(target))
	if !target.lost {
		t.Error("no answer was lost")
	}
	w.whole(t, target)
}
