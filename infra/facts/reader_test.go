package facts_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/internal/testwait"
)

// fake is a log of one partition and its verdicts.
type fake struct {
	mu       sync.Mutex
	records  []events.Record
	judged   int64
	rejected map[int64]events.Verdict
	fetches  []int64 // their first offsets
	asked    int     // for rejected records
	changed  map[chan struct{}]bool
}

func (f *fake) Topic(family events.Family) string { return string(family) }

func (f *fake) Recall(_ context.Context, _ string, _ int32, from int64, _ int, _ time.Duration) ([]events.Record, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fetches = append(f.fetches, from)
	end := min(int64(len(f.records)), from+10)
	return slices.Clone(f.records[min(from, end):end]), int64(len(f.records)), nil
}

func (f *fake) Next(events.Family, int32) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.judged
}

func (f *fake) Changes(...events.Family) (<-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := make(chan struct{}, 1)
	f.changed[changed] = true
	return changed, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.changed, changed)
	}
}

func (f *fake) Rejected(_ context.Context, _ events.Family, _ int32, from, to int64) (map[int64]events.Verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	found := map[int64]events.Verdict{}
	for offset, verdict := range f.rejected {
		if offset >= from && offset < to {
			found[offset] = verdict
		}
	}
	return found, nil
}

// newFake returns a log with records, of which every seventh is no fact, and the
// first is of an unknown type.
func newFake(t *testing.T, count int) *fake {
	t.Helper()
	f := &fake{rejected: map[int64]events.Verdict{}, changed: map[chan struct{}]bool{}}
	for i := range count {
		kind := events.WorkspaceUpdated{}.EventType()
		if i == 0 {
			kind = "netsim.workspace.unheard_of.v1"
		}
		value, err := events.Encode(events.WorkspaceUpdated{Name: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		id := events.NewID(events.WorkspacePrefix)
		m, _ := events.Frame{
			ID: events.DerivedUUID(id).String(), Type: kind, Stream: id, PartitionKey: id, Sequence: 1, Time: time.Now(), Actor: "tester", DataVersion: 1,
		}.Message(value)
		f.records = append(f.records, events.Record{Message: m, Offset: int64(i), Partition: 3, Time: time.Now()})
		if i%7 == 6 {
			f.rejected[int64(i)] = events.Stale
		}
	}
	return f
}

// judge judges the records before an offset.
func (f *fake) judge(next int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.judged = next
	for changed := range f.changed {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
}

// read reads up to an offset and returns what it got.
func read(t *testing.T, r *facts.Reader, to int64) (got, rejected []int64) {
	t.Helper()
	for from := int64(0); from < to; {
		b, err := r.Next(t.Context(), events.Workspaces, 3, from)
		if err != nil {
			t.Error(err)
			return
		}
		if b.From != from || b.To <= from {
			t.Errorf("asked from %d, the batch is [%d, %d)", from, b.From, b.To)
			return
		}
		for i := range b.Facts {
			got = append(got, b.Facts[i].Offset)
		}
		rejected = append(rejected, b.Rejected...)
		from = b.To
	}
	return got, rejected
}

// TestFactsAreReadOnce: subscribers that keep up share each fetch, and get all facts
// in order.
func TestFactsAreReadOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t, 100)
	r := facts.NewReader(f, f)
	var want, not []int64
	for i := range int64(100) {
		if i%7 == 6 {
			not = append(not, i)
		} else {
			want = append(want, i)
		}
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			got, rejected := read(t, r, 100)
			if diff := cmp.Diff([][]int64{want, not}, [][]int64{got, rejected}); diff != "" {
				t.Errorf("offsets (-want +got):\n%s", diff)
			}
		})
	}
	for next := int64(10); next <= 100; next += 10 {
		f.judge(next)
	}
	testwait.Group(t, &all, "the subscribers")
	if len(f.fetches) != 10 || f.asked != 10 {
		t.Errorf("fetched from %v, asked %d times what is rejected", f.fetches, f.asked)
	}
	slow, _ := read(t, r, 100)
	if diff := cmp.Diff(want, slow); diff != "" {
		t.Errorf("a subscriber that is behind (-want +got):\n%s", diff)
	}
}

// TestNothingIsFetchedUnjudged: without a verdict there is no fetch, and what is
// judged later is not in the batch.
func TestNothingIsFetchedUnjudged(t *testing.T) {
	t.Parallel()
	f := newFake(t, 10)
	r := facts.NewReader(f, f)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := r.Next(ctx, events.Workspaces, 3, 0)
		ended <- err
	}()
	cancel()
	if err := testwait.Receive(t, ended, "the wait to end"); err == nil || len(f.fetches) > 0 {
		t.Errorf("before a verdict: %v, fetched from %v", err, f.fetches)
	}
	f.judge(4)
	b, err := r.Next(t.Context(), events.Workspaces, 3, 0)
	if err != nil || b.To != 4 || len(b.Facts) != 4 {
		t.Errorf("the batch is %+v, %v, want the four that are judged", b, err)
	}
}

func TestFactsAreDecoded(t *testing.T) {
	t.Parallel()
	f := newFake(t, 2)
	f.judge(2)
	b, err := facts.NewReader(f, f).Next(t.Context(), events.Workspaces, 3, 0)
	if err != nil || len(b.Facts) != 2 {
		t.Fatal(b, err)
	}
	unknown, known := &b.Facts[0], &b.Facts[1]
	if unknown.Err == nil || unknown.Offset != 0 || unknown.Record.Offset != 0 {
		t.Errorf("a fact of an unknown type is %+v", unknown)
	}
	d, ok := known.Data.(events.WorkspaceUpdated)
	if known.Err != nil || !ok || d.Name != "1" || known.Partition != 3 || known.Family != events.Workspaces || known.RecordedAt.IsZero() || known.Sequence != 1 {
		t.Errorf("a fact is %+v", known)
	}
}

// TestFramesAreRead: a frame reader has the same facts, without their data.
func TestFramesAreRead(t *testing.T) {
	t.Parallel()
	f := newFake(t, 20)
	f.judge(20)
	for from := int64(0); from < 20; {
		whole, err := facts.NewReader(f, f).Next(t.Context(), events.Workspaces, 3, from)
		if err != nil {
			t.Fatal(err)
		}
		frames, err := facts.NewFrameReader(f, f).Next(t.Context(), events.Workspaces, 3, from)
		if err != nil || frames.From != whole.From || frames.To != whole.To || len(frames.Facts) != len(whole.Facts) {
			t.Fatalf("got [%d, %d) with %d facts, %v", frames.From, frames.To, len(frames.Facts), err)
		}
		for i := range frames.Facts {
			got, want := &frames.Facts[i], &whole.Facts[i]
			if got.Data != nil || got.Err != nil || got.Frame != want.Frame || got.Hash != want.Hash || got.Offset != want.Offset || got.Record.Offset != want.Offset {
				t.Errorf("a frame is %+v, want %+v", got, want)
			}
		}
		from = whole.To
	}
}
