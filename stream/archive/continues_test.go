package archive_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/stream/archive"
)

// TestAnArchiveOfAnotherLogIsRefused: an archive is not continued by a log of the same
// topics that has another record before the archive's position, at its end or grown
// beyond it. One of a release that did not sign the record is.
func TestAnArchiveOfAnotherLogIsRefused(t *testing.T) {
	t.Parallel()
	sum := regexp.MustCompile(`(?m)^(position \S+ \d+ \d+) [0-9a-f]{64}$`)
	for name, c := range map[string]struct {
		last string
		more int
		want string
	}{
		"with as many records": {" " + strings.Repeat("1", 64), 0, "is not the one that was seen: use another target"},
		"that has grown":       {" " + strings.Repeat("1", 64), 30, "is not the one that was seen: use another target"},
		"that is not said":     {"", 30, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 60)
			target := w.directory()
			a := w.archiver(target)
			a.SegmentBytes = 1 << 20
			w.run(a)
			path := filepath.Join(target.Path, "000000000001.note")
			signed, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text, _, _ := strings.Cut(string(signed), "\n\n")
			changed := sum.ReplaceAllString(text+"\n", "${1}"+c.last)
			if changed == text+"\n" {
				t.Fatalf("no position has a record:\n%s", text)
			}
			again, err := note.Sign(&note.Note{Text: changed}, w.key)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, again, 0o600); err != nil {
				t.Fatal(err)
			}
			w.append(c.more)
			err = w.archiver(target).Run(t.Context())
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

// TestAPositionHasItsRecord: what is signed of each position is the record before it.
func TestAPositionHasItsRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	target := w.directory()
	a := w.archiver(target) // several segments
	w.run(a)
	w.append(7)
	w.run(a)
	last, err := archive.Newest(t.Context(), target, []string{w.verifier})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range last.Positions {
		at := events.Anchor{Next: p.Next}
		if p.Next == 0 {
			continue
		}
		records, _, err := w.log.Read(t.Context(), w.log.Topic(p.Family), p.Partition, p.Next-1, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		at.Last = events.SumOf(&records[0])
		if !strings.HasSuffix(at.String(), "/"+p.Last) {
			t.Errorf("the position %+v has another record: %s", p, at)
		}
		if other, err := eventlog.Prove(t.Context(), w.log, w.log.Topic(p.Family), p.Partition, at); err != nil || other != "" {
			t.Errorf("%s: %s, %v", at, other, err)
		}
	}
}
