package snapshot_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"netsim/internal/testwait"
	"netsim/simulator/snapshot"
)

// state has a value of every kind.
type state struct {
	Small   int32
	Wide    int64
	Big     uint64
	Yes     bool
	Text    string
	Bytes   []byte
	List    []int64
	Indexes [2]int32
}

func (s *state) visit(c *snapshot.Codec) {
	snapshot.Int(c, &s.Small)
	snapshot.Int(c, &s.Wide)
	snapshot.Uint(c, &s.Big)
	c.Bool(&s.Yes)
	c.Text(&s.Text)
	c.Bytes(&s.Bytes)
	snapshot.Slice(c, &s.List, func(v *int64) { snapshot.Int(c, v) })
	snapshot.Each(c, "indexes", s.Indexes[:], func(v *int32) { snapshot.Index(c, v, -1, 100) })
}

// TestWritingOnlyReads: two goroutines can write the same state at once, because Write
// does not change it. Only the race detector sees a violation.
func TestWritingOnlyReads(t *testing.T) {
	t.Parallel()
	s := state{Yes: true, Text: "text", Bytes: []byte("bytes"), List: []int64{1}}
	var writers errgroup.Group
	for range 2 {
		writers.Go(func() error { return snapshot.Write(io.Discard, "test", s.visit) })
	}
	if err := testwait.Call(t, writers.Wait, "both writers"); err != nil {
		t.Fatal(err)
	}
}

// TestSections: sections that were written one after another are read with the same
// values from one reader.
func TestSections(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var written []state
		var b bytes.Buffer
		for range rapid.IntRange(1, 3).Draw(rt, "sections") {
			s := state{
				rapid.Int32().Draw(rt, "small"), rapid.Int64().Draw(rt, "wide"), rapid.Uint64().Draw(rt, "big"), rapid.Bool().Draw(rt, "yes"),
				rapid.String().Draw(rt, "text"), rapid.SliceOfN(rapid.Byte(), 1, 9000).Draw(rt, "bytes"),
				rapid.SliceOfN(rapid.Int64(), 1, 9).Draw(rt, "list"), [2]int32{-1, rapid.Int32Range(-1, 99).Draw(rt, "index")},
			}
			written = append(written, s)
			if err := snapshot.Write(&b, "test", s.visit); err != nil {
				rt.Fatal(err)
			}
		}
		in := bufio.NewReader(iotest.OneByteReader(&b))
		for _, want := range written {
			var got state
			if err := snapshot.Read(in, "test", got.visit); err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("a section is read with other values (-want +got):\n%s", diff)
			}
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
			rt.Fatalf("after the last section: got error %v, want io.EOF", err)
		}
	})
}

// TestRefuses: a section is refused if any of its bytes is changed, if its end is missing,
// or if its content has another name.
func TestRefuses(t *testing.T) {
	t.Parallel()
	s := state{Small: -7, Wide: math.MinInt64, Big: math.MaxUint64, Yes: true, Text: "text", Bytes: []byte{1, 2}, List: []int64{3}}
	var b bytes.Buffer
	if err := snapshot.Write(&b, "test", s.visit); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for at := range whole {
		for _, bit := range []byte{1, 0x80} {
			damaged := bytes.Clone(whole)
			damaged[at] ^= bit
			if err := snapshot.Read(bytes.NewReader(damaged), "test", new(state).visit); !errors.Is(err, snapshot.ErrRefused) {
				t.Errorf("with byte %d changed: got error %v, want %v", at, err, snapshot.ErrRefused)
			}
		}
		if err := snapshot.Read(bytes.NewReader(whole[:at]), "test", new(state).visit); !errors.Is(err, snapshot.ErrRefused) {
			t.Errorf("the first %d bytes: got error %v, want %v", at, err, snapshot.ErrRefused)
		}
	}
	err := snapshot.Read(bytes.NewReader(whole), "another", new(state).visit)
	if want := `the engine snapshot cannot be used: its header has "test", not "another"`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// TestReaderFails: an error of the underlying reader or writer is returned, and is not
// ErrRefused.
func TestReaderFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the store is down")
	err := snapshot.Read(io.MultiReader(strings.NewReader("\x28nets"), iotest.ErrReader(broken)), "test", new(state).visit)
	if !errors.Is(err, broken) || errors.Is(err, snapshot.ErrRefused) {
		t.Errorf("Read: got error %v, want %v", err, broken)
	}
	if err := snapshot.Write(failing{broken}, "test", new(state).visit); !errors.Is(err, broken) {
		t.Errorf("Write: got error %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
