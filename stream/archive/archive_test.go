package archive_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/stream/archive"
	"netsim/stream/export"
)

// TestARestoredLogIsTheLog: archived and restored, every record has its offset, key,
// value, headers and time, consumer groups are where they were, and the topics have the
// settings of a log.
func TestARestoredLogIsTheLog(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]archive.Target{
		"directory": &export.Directory{Path: t.TempDir()},
		"bucket":    bucket(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 400)
			group, family := events.NewID("g"), events.Families()[1]
			commit := map[int32]eventlog.GroupOffset{0: {Next: 7, Metadata: "1:meta"}, 1: {Next: 9}}
			if err := w.log.CommitGroup(t.Context(), group, w.log.Topic(family), commit); err != nil {
				t.Fatal(err)
			}
			a := w.archiver(target)
			a.Groups = map[string]events.Family{group: family}
			w.run(a)
			w.append(100)
			w.run(a)
			before := a.Report().Segments
			w.run(a)
			if after := a.Report().Segments; after != before || before < 3 {
				t.Errorf("%d segments, and %d after a run without new records", before, after)
			}

			to := open(t, prefix(t))
			c := archive.Copy{From: w.open(target), To: to}
			copied, err := c.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			again := archive.Copy{From: w.open(target), To: to} // of a command that was killed at its end
			if _, err := again.Finish(t.Context()); err != nil {
				t.Errorf("a finished restore is repeated: %v", err)
			}
			if len(copied) != partitions*len(events.Families()) {
				t.Errorf("%d partitions were compared", len(copied))
			}
			if diff := cmp.Diff(records(t, w.log), records(t, to)); diff != "" {
				t.Errorf("(-log +restored):\n%.2000s", diff)
			}
			d, err := to.Describe(t.Context())
			if err == nil {
				err = to.Check(d)
			}
			if err != nil {
				t.Errorf("the service would refuse the restored log: %v", err)
			}
			got, err := to.GroupOffsets(t.Context(), group, to.Topic(family), partitions)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]eventlog.GroupOffset{commit[0], commit[1]}, got); diff != "" {
				t.Errorf("the group (-committed +restored):\n%s", diff)
			}
		})
	}
}

var errKilled = errors.New("killed")

// nth returns a step function that fails at the n-th call for a step.
func nth(step string, n int) func(string) error {
	var mu sync.Mutex
	return func(at string) error {
		mu.Lock()
		defer mu.Unlock()
		if at != step {
			return nil
		}
		if n--; n < 0 {
			return errKilled
		}
		return nil
	}
}

// TestAnArchiverKilledAtAnyStep writes the same files as one that was not.
func TestAnArchiverKilledAtAnyStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 150)
	whole := w.directory()
	w.run(w.archiver(whole))
	want := content(t, whole.Path)
	for _, step := range []string{"segment read", "file begun", "file written", "note written"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			target := &export.Directory{Path: t.TempDir()}
			killed := 0
			for n := 0; ; n++ {
				a := w.archiver(target) // another process
				a.Step = nth(step, n%3)
				err := a.Run(t.Context())
				if err == nil {
					break
				}
				if !errors.Is(err, errKilled) || n > 3*len(want) {
					t.Fatal(err)
				}
				killed++
				for _, name := range []string{".partial-1", "000000000099.zst"} { // what a killed process can leave
					if err := os.WriteFile(filepath.Join(target.Path, name), []byte("half"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := os.Remove(filepath.Join(target.Path, "000000000099.zst")); err != nil {
				t.Fatal(err)
			}
			if killed < 2 {
				t.Errorf("the archiver was killed %d times", killed)
			}
			if diff := cmp.Diff(want, content(t, target.Path)); diff != "" {
				t.Errorf("(-uninterrupted +killed):\n%.1000s", diff)
			}
		})
	}
}

// TestARestoreKilledAtAnyStep is continued, and the log is the log. Until it is finished
// the service refuses it.
func TestARestoreKilledAtAnyStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 150)
	target := w.directory()
	w.run(w.archiver(target))
	want := records(t, w.log)
	for _, step := range []string{"topics made", "batch appended", "compared", "groups committed"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			to := open(t, prefix(t))
			killed := 0
			for n := 0; ; n++ {
				c := archive.Copy{From: w.open(target), To: to, Step: nth(step, n)}
				_, err := c.Finish(t.Context())
				if err == nil {
					break
				}
				if !errors.Is(err, errKilled) || n > 200 {
					t.Fatal(err)
				}
				killed++
				if d, err := to.Describe(t.Context()); err != nil || to.Check(d) == nil {
					t.Fatalf("the service would accept a copy that is not finished (%v)", err)
				}
			}
			if killed == 0 {
				t.Error("the restore was never killed")
			}
			if diff := cmp.Diff(want, records(t, to)); diff != "" {
				t.Errorf("(-log +restored):\n%.2000s", diff)
			}
		})
	}
}

// TestDamageIsFound: each kind of damage to an archive is found and the file named.
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 200)
	good := w.directory()
	w.run(w.archiver(good))
	files := content(t, good.Path)
	data, noted := names(files, ".zst"), names(files, ".note")
	if len(data) < 4 {
		t.Fatalf("the archive has %d files", len(data))
	}
	other := newWorld(t, 50)
	foreign := other.directory()
	other.run(other.archiver(foreign))
	write := func(dir, name, text string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	for name, c := range map[string]struct {
		damage func(dir string) error
		want   string
	}{
		"a changed byte": {func(dir string) error {
			text := []byte(files[data[1]])
			text[len(text)/2] ^= 1
			return write(dir, data[1], string(text))
		}, data[1] + " "},
		"a forged record with the right checksums": {func(dir string) error { return write(dir, data[0], forged(t, files[noted[0]], files[data[0]])) },
			data[0] + " "},
		"a shorter file": {func(dir string) error { return write(dir, data[2], files[data[2]][:len(files[data[2]])-1]) }, data[2] + " "},
		"a missing file": {func(dir string) error { return os.Remove(filepath.Join(dir, data[1])) }, data[1] + " is missing"},
		"a missing note": {func(dir string) error { return os.Remove(filepath.Join(dir, noted[1])) }, noted[1] + " is missing"},
		"two files swapped": {func(dir string) error {
			return errors.Join(write(dir, data[1], files[data[2]]), write(dir, data[2], files[data[1]]))
		}, data[1] + " "},
		"two notes swapped": {func(dir string) error {
			return errors.Join(write(dir, noted[1], files[noted[2]]), write(dir, noted[2], files[noted[1]]))
		}, noted[1] + " is the note of segment 3"},
		"a changed note": {func(dir string) error {
			return write(dir, noted[0], strings.Replace(files[noted[0]], "topic ", "topics ", 1))
		}, noted[0] + " cannot be read"},
		"a changed number in a note": {func(dir string) error {
			return write(dir, noted[0], strings.Replace(files[noted[0]], "cluster ", "cluster x", 1))
		}, noted[1] + " does not follow"},
		"a changed last note": {func(dir string) error {
			last := noted[len(noted)-1]
			return write(dir, last, strings.Replace(files[last], "cluster ", "cluster x", 1))
		}, noted[len(noted)-1] + " cannot be trusted"},
		"the note of another log": {func(dir string) error {
			return write(dir, noted[1], content(t, foreign.Path)[noted[1]])
		}, noted[1] + " does not follow"},
		"another file": {func(dir string) error { return write(dir, "000000000777.zst", "x") }, "000000000777.zst is not of the archive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range files {
				if err := write(dir, name, text); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.damage(dir); err != nil {
				t.Fatal(err)
			}
			a, found, err := archive.Open(t.Context(), &export.Directory{Path: dir}, []string{w.verifier})
			if err != nil {
				t.Fatal(err)
			}
			more, err := a.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, d := range append(found, more...) {
				all = append(all, d.String())
			}
			if !strings.Contains(strings.Join(all, "\n"), c.want) {
				t.Errorf("found %q, want %q in it", all, c.want)
			}
		})
	}
	if _, damage, err := archive.Open(t.Context(), good, []string{other.verifier}); err != nil || len(damage) != 1 {
		t.Errorf("with another key: %v, %v", damage, err)
	}
}
