package archive_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"netsim/fault"
	"netsim/stream/archive"
	"netsim/stream/export"
)

// another returns the target as another process has it.
func another(target archive.Target) archive.Target {
	if d, is := target.(*export.Directory); is {
		return &export.Directory{Path: d.Path}
	}
	return target
}

// unknownKey returns a public key that has signed nothing.
func unknownKey(t *testing.T) string {
	t.Helper()
	_, public, err := note.GenerateKey(nil, "test")
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// sweep sweeps an archive.
func (w *world) sweep(target archive.Target, remove bool) archive.Swept {
	w.t.Helper()
	s, err := archive.Sweep(w.t.Context(), target, []string{w.verifier}, remove)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// killedWith has an archiver write the file of another segment than the next archiver will,
// and kills it before its note.
func (w *world) killedWith(target archive.Target, bytes int) {
	w.t.Helper()
	a := w.archiver(target)
	a.SegmentBytes, a.Step = bytes, nth("file written", 0)
	if err := a.Run(w.t.Context()); !errors.Is(err, errKilled) {
		w.t.Fatalf("the archiver was not killed: %v", err)
	}
}

// TestGarbageIsSwept: what archivers that were killed left is garbage as soon as another one
// has committed the segment, and not before. The archive is whole afterwards.
func TestGarbageIsSwept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	for name, target := range map[string]archive.Target{"directory": w.directory(), "bucket": bucket(t)} {
		w.run(w.archiver(target))
		w.append(40)
		for _, bytes := range []int{1, 3_000, 7_000} {
			w.killedWith(target, bytes)
		}
		if s := w.sweep(target, true); len(s.Open) != 3 || len(s.Garbage) != 0 {
			t.Errorf("%s: before the segment has a note: %+v", name, s)
		}
		w.run(w.archiver(target))
		listed := w.sweep(target, false)
		if len(listed.Open) != 0 || len(listed.Garbage) != 3 {
			t.Errorf("%s: after the segment has a note: %+v", name, listed)
		}
		if removed := w.sweep(target, true); !slices.Equal(removed.Garbage, listed.Garbage) {
			t.Errorf("%s: removed %+v, listed %+v", name, removed, listed)
		}
		if s := w.sweep(target, true); len(s.Open)+len(s.Garbage) != 0 {
			t.Errorf("%s: after it was swept: %+v", name, s)
		}
		names, err := target.Names(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range listed.Garbage {
			if slices.Contains(names, name) {
				t.Errorf("the target still has %s", name)
			}
		}
		w.whole(t, target)
	}
}

// TestASweepInBetween: at each step of an archiver's run, a sweep of the same bucket removes
// nothing that the archiver commits. A directory refuses the sweep.
func TestASweepInBetween(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	for name, target := range map[string]archive.Target{"directory": w.directory(), "bucket": bucket(t)} {
		w.run(w.archiver(target))
		for _, step := range []string{"segment read", "file begun", "file written", "note written"} {
			w.append(15)
			w.killedWith(target, 1)
			a, between := w.archiver(target), 0
			a.Step = func(at string) error {
				if at != step {
					return nil
				}
				between++
				var err error
				if name == "bucket" {
					_, err = archive.Sweep(t.Context(), target, []string{w.verifier}, true)
				} else if _, refused := archive.Sweep(t.Context(), another(target), []string{w.verifier}, true); fault.CodeOf(refused) != fault.Conflict {
					t.Errorf("%s: a sweep beside an archiver: %v, want it to be refused", step, refused)
				}
				return err
			}
			w.run(a)
			if between == 0 {
				t.Errorf("%s, %s: there was no sweep", name, step)
			}
			w.whole(t, target)
		}
	}
}

// TestNothingOfADamagedArchiveIsSwept: with a note that was changed, a file may seem to be
// garbage. Nothing is removed then, and never a file of another kind.
func TestNothingOfADamagedArchiveIsSwept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	target := w.directory()
	w.run(w.archiver(target))
	before := content(t, target.Path)
	first := names(before, ".note")[0]
	changed := strings.Replace(before[first], "\nsection ", "\nsection x", 1)
	if err := os.WriteFile(filepath.Join(target.Path, first), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Sweep(t.Context(), target, []string{w.verifier}, true); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("a changed note: %v", err)
	}
	if got := names(content(t, target.Path), ".zst"); !slices.Equal(got, names(before, ".zst")) {
		t.Errorf("the files are %v, they were %v", got, names(before, ".zst"))
	}
	if err := os.WriteFile(filepath.Join(target.Path, first), []byte(before[first]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Sweep(t.Context(), target, []string{unknownKey(t)}, true); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("an unknown key: %v", err)
	}
	if err := os.WriteFile(filepath.Join(target.Path, "000000000001.zst"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Sweep(t.Context(), target, []string{w.verifier}, true); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("a file of another kind: %v", err)
	}
}
