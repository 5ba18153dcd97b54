package results_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/engine"
	"netsim/simulator/results"
	"netsim/simulator/snapshot"
)

// reopen opens a file for appending to its saved content.
func (f *files) reopen(name string) (io.WriteCloser, error) {
	f.open++
	return file{f.content[name], f}, nil
}

// copied returns a copy of the files written so far.
func (f *files) copied() *files {
	c := &files{names: append([]string(nil), f.names...), content: map[string]*bytes.Buffer{}}
	for name, b := range f.content {
		c.content[name] = bytes.NewBuffer(bytes.Clone(b.Bytes()))
	}
	return c
}

var errKilled = errors.New("killed")

// TestResumedFiles: a run that is killed and resumed many times, in the middle of
// shards, writes the same files as an uninterrupted run.
func TestResumedFiles(t *testing.T) {
	t.Parallel()
	groups := everyOperation(t)
	c := results.Config{Simulation: "resumed", Fabric: fabric(t, "64x800G", 64), ShardSize: 40_000, MaxTransfers: 5000}
	o := engine.Options{Interval: 300_000_000, Beacon: 100_000_000, ProgressEvents: 100}
	want, result := record(t, c, groups, o)

	out := &files{}
	c.Start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) // the same as in recordInput
	in := engine.Input{Fabric: c.Fabric, Groups: groups, Options: o}
	random := rand.New(rand.NewPCG(1, 0))
	var recorder, state []byte
	kills := 0
	for {
		current := out.copied() // without anything written after the state was saved
		c.Create, c.Reopen = current.create, current.reopen
		var r *results.Recorder
		var err error
		if state == nil {
			r, err = results.New(c)
		} else {
			r, err = results.Resume(c, bytes.NewReader(recorder))
		}
		if err != nil {
			t.Fatal(err)
		}
		calls, saveAt := 0, 2+random.IntN(25)
		observe := r.Observer()
		observe.Snapshot = func(save func(io.Writer) error) error {
			switch calls++; calls {
			case saveAt:
				var a, b bytes.Buffer
				err := errors.Join(r.Save(&a), save(&b))
				recorder, state, out = a.Bytes(), b.Bytes(), current.copied()
				return err
			case saveAt + 1:
				kills++
				return errKilled
			}
			return nil
		}
		var got *engine.Result
		if state == nil {
			got, err = engine.Run(t.Context(), in, observe)
		} else {
			got, err = engine.Resume(t.Context(), in, bytes.NewReader(state), observe)
		}
		if errors.Is(err, errKilled) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(result, got); diff != "" {
			t.Error(diff)
		}
		if err := r.Close(got); err != nil {
			t.Fatal(err)
		}
		out = current
		break
	}
	if kills < 5 {
		t.Errorf("killed %d times, want at least 5", kills)
	}
	for name, b := range want.content {
		if got := out.content[name]; got == nil || !bytes.Equal(got.Bytes(), b.Bytes()) {
			t.Errorf("%s differs from the file of the run that was not killed", name)
		}
	}
	if len(out.names) != len(want.names) {
		t.Errorf("files %v, want %v", out.names, want.names)
	}
}

// TestResumeRefuses: Resume refuses the state of a recorder of another fabric.
func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	c := results.Config{Simulation: "small", Fabric: fabric(t, "64x800G", 64), Create: (&files{}).create}
	r, err := results.New(c)
	if err != nil {
		t.Fatal(err)
	}
	links := 2 * len(c.Fabric.Links)
	if err := r.Observer().Links(&engine.Links{End: 1, Bits: make([]int64, links), Packets: make([]int64, links)}); err != nil {
		t.Fatal(err)
	}
	var state bytes.Buffer
	if err := r.Save(&state); err != nil {
		t.Fatal(err)
	}
	c.Fabric = fabric(t, "64x800G", 128)
	_, err = results.Resume(c, &state)
	if !errors.Is(err, snapshot.ErrRefused) || !strings.Contains(err.Error(), fmt.Sprint(links)) {
		t.Errorf("got error %v, want a refusal that names %d", err, links)
	}
}
