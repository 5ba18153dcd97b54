package history_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/facts"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/stream/history"
)

// chain appends raw records to a stream.
type chain struct {
	w        *testworld.World
	id       string
	sequence int64
	hash     events.Hash
}

// append appends the next fact, and returns what waits for its position.
func (c *chain) append(t *testing.T, eventType, value string) func(context.Context) (events.Position, error) {
	t.Helper()
	c.sequence++
	f := c.frame(eventType)
	f.Sequence, f.PreviousHash = c.sequence, c.hash
	m, hash := f.Message([]byte(value))
	c.hash = hash
	return c.send(t, m)
}

// stale appends a record that is no fact: another one has its sequence.
func (c *chain) stale(t *testing.T) {
	t.Helper()
	f := c.frame(events.WorkspaceUpdated{}.EventType())
	f.Sequence = 1
	m, _ := f.Message([]byte(`{"name":"never"}`))
	at, err := c.send(t, m)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.w.WriteLog.Verdict(t.Context(), at); err != nil || v == events.Accepted {
		t.Fatalf("the record is %s, %v; want that it is no fact", v, err)
	}
}

func (c *chain) frame(eventType string) events.Frame {
	return events.Frame{
		ID: events.NewID("event"), Type: eventType, Stream: c.id, PartitionKey: c.id, Time: time.Now(), Actor: "tester", CorrelationID: "request-1", DataVersion: 1,
	}
}

func (c *chain) send(t *testing.T, m events.Message) func(context.Context) (events.Position, error) {
	t.Helper()
	wait, err := c.w.WriteLog.Append(t.Context(), events.Workspaces, c.id, m)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

// judged waits until the record is a fact.
func (c *chain) judged(t *testing.T, wait func(context.Context) (events.Position, error)) {
	t.Helper()
	at, err := wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.w.WriteLog.Verdict(t.Context(), at); err != nil || v != events.Accepted {
		t.Fatalf("the record is %s, %v; want a fact", v, err)
	}
}

func of(w *testworld.World) *history.History { return &history.History{DB: w.DB, Log: w.EventLog} }

func every(*facts.Fact) bool { return true }

// all reads all pages of a stream.
func all(t *testing.T, h *history.History, stream string, limit int, states bool) (read []history.Fact) {
	t.Helper()
	for from := int64(1); from > 0; {
		page, err := h.Read(t.Context(), history.Query{Stream: stream, From: from, Limit: limit, States: states, Sees: every})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Facts) > limit {
			t.Fatalf("a page has %d facts, want at most %d", len(page.Facts), limit)
		}
		read, from = append(read, page.Facts...), page.Next
	}
	return read
}

// stored is what the projector keeps of a stream.
func stored(t *testing.T, w *testworld.World, stream string) (sequence int64, hash events.Hash, state string) {
	t.Helper()
	var sum []byte
	if err := w.DB.QueryRow(t.Context(), `SELECT sequence, hash, coalesce(state, '{}') FROM streams WHERE stream = $1`, stream).Scan(&sequence, &sum, &state); err != nil {
		t.Fatal(err)
	}
	copy(hash[:], sum)
	return sequence, hash, state
}

// check compares the facts of a stream with its head and state in the read model.
func check(t *testing.T, w *testworld.World, stream string, read []history.Fact) {
	t.Helper()
	sequence, hash, state := stored(t, w, stream)
	if int64(len(read)) != sequence {
		t.Fatalf("%s: %d facts, want %d", stream, len(read), sequence)
	}
	before, last := "{}", events.Hash{}
	for i, f := range read {
		if f.Sequence != int64(i+1) || f.PreviousHash != last || f.Stream != stream {
			t.Errorf("%s: fact %d is %s/%d after %s, want the next one after %s", stream, i+1, f.Stream, f.Sequence, f.PreviousHash, last)
		}
		if string(f.Before) != before {
			t.Errorf("%s: before fact %d the state is %s, want what it was after the fact before, %s", stream, i+1, f.Before, before)
		}
		before, last = string(f.After), f.Hash
	}
	if last != hash || before != state {
		t.Errorf("%s ends with the hash %s and the state %s, want those of the read model: %s, %s", stream, last, before, hash, state)
	}
}

// TestAStreamIsThatOfTheReadModel: the pages of a stream have each of its facts once, in
// order and no record that is none, and the state after the last one is what commands
// decide on.
func TestAStreamIsThatOfTheReadModel(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	var streams []string
	for range 3 {
		id := events.NewID(events.WorkspacePrefix)
		testworld.In(t, w, id, id, commands.CreateWorkspace{AccountID: testworld.Account, Name: id})
		streams = append(streams, id)
	}
	for i := range 8 {
		for _, id := range streams {
			testworld.In(t, w, id, id, commands.UpdateWorkspace{ID: id, Name: fmt.Sprint("name ", i)})
			(&chain{w: w, id: id}).stale(t)
		}
	}
	for _, id := range streams {
		for _, limit := range []int{1, 4, 100} {
			check(t, w, id, all(t, of(w), id, limit, true))
			if n := len(all(t, of(w), id, limit, false)); n != 9 {
				t.Errorf("without states: %d facts, want 9", n)
			}
		}
	}
	if _, err := of(w).Read(t.Context(), history.Query{Stream: events.NewID(events.WorkspacePrefix), From: 1, Limit: 1, Sees: every}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a stream without facts: %v, want that it does not exist", err)
	}
}

// TestAParkedFactChangesNoState: a fact that cannot be applied is listed with its data, and
// it and the facts after it leave the state as it was.
func TestAParkedFactChangesNoState(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	c := &chain{w: w, id: events.NewID(events.WorkspacePrefix)}
	c.append(t, events.WorkspaceCreated{}.EventType(), `{"accountId":"`+testworld.Account+`","name":"first"}`)
	c.append(t, "netsim.workspace.flown.v1", `{"to":"the moon"}`)
	c.append(t, events.WorkspaceUpdated{}.EventType(), `no JSON`)
	c.judged(t, c.append(t, events.WorkspaceUpdated{}.EventType(), `{"name":"second"}`))
	read := all(t, of(w), c.id, 100, true)
	check(t, w, c.id, read)
	for _, f := range read[1:] {
		if string(f.After) != string(read[0].After) {
			t.Errorf("after fact %d the state is %s, want that after the first one, %s", f.Sequence, f.After, read[0].After)
		}
	}
	page, err := of(w).Read(t.Context(), history.Query{Stream: c.id, From: 3, Limit: 1, Sees: every})
	if err != nil || page.Head.Parked == nil || *page.Head.Parked != 2 || string(page.Facts[0].Record.Value) != "no JSON" {
		t.Errorf("got the page %+v, %v; want that the stream is parked from 2 on, and the data as it is", page, err)
	}
}

// TestAPageIsBounded: a page ends when its data and states are large, and states are shown
// of the first facts of a long stream only.
func TestAPageIsBounded(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	large := &chain{w: w, id: events.NewID(events.WorkspacePrefix)}
	large.append(t, events.WorkspaceCreated{}.EventType(), `{"accountId":"`+testworld.Account+`","name":"w"}`)
	value := `{"name":"w","description":"` + strings.Repeat("d", 1_500_000) + `"}`
	for range 4 {
		large.append(t, events.WorkspaceUpdated{}.EventType(), value)
	}
	large.judged(t, large.append(t, events.WorkspaceUpdated{}.EventType(), `{"name":"w"}`))
	page, err := of(w).Read(t.Context(), history.Query{Stream: large.id, From: 1, Limit: 100, Sees: every})
	if err != nil || len(page.Facts) != 4 || page.Next != 5 {
		t.Errorf("got %d facts and the next %d, %v; want 4, which have more than 4 MiB, and 5", len(page.Facts), page.Next, err)
	}
	check(t, w, large.id, all(t, of(w), large.id, 100, true))

	long := &chain{w: w, id: events.NewID(events.WorkspacePrefix)}
	last := long.append(t, events.WorkspaceCreated{}.EventType(), `{"accountId":"`+testworld.Account+`","name":"w"}`)
	for i := range history.MaxFolded {
		last = long.append(t, events.WorkspaceUpdated{}.EventType(), fmt.Sprintf(`{"name":"%d"}`, i))
	}
	long.judged(t, last)
	page, err = of(w).Read(t.Context(), history.Query{Stream: long.id, From: history.MaxFolded - 9, Limit: 100, States: true, Sees: every})
	if err != nil || len(page.Facts) != 10 || page.Next != history.MaxFolded+1 {
		t.Errorf("got %d facts and the next %d, %v; want 10 and the first beyond the bound", len(page.Facts), page.Next, err)
	}
	_, err = of(w).Read(t.Context(), history.Query{Stream: long.id, From: page.Next, Limit: 100, States: true, Sees: every})
	if !fault.Is(err, fault.Unprocessable) || err.Error() != "states are shown up to sequence 2000 of a stream, and from is 2001; ask without state" {
		t.Errorf("states beyond the bound: %v", err)
	}
	if n := len(all(t, of(w), long.id, 100, false)); n != history.MaxFolded+1 {
		t.Errorf("without states: %d facts, want all %d", n, history.MaxFolded+1)
	}
}

// TestARowThatIsTooLargeIsParked: a name that no index of PostgreSQL can hold parks its
// stream, and others are projected.
func TestARowThatIsTooLargeIsParked(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	c := &chain{w: w, id: events.NewID(events.WorkspacePrefix)}
	c.append(t, events.WorkspaceCreated{}.EventType(), `{"accountId":"`+testworld.Account+`","name":"w"}`)
	c.judged(t, c.append(t, events.WorkspaceUpdated{}.EventType(), `{"name":"`+strings.Repeat("n", 1_500_000)+`"}`))
	head, err := projections.FindStream(t.Context(), w.DB, c.id)
	if err != nil || head.Parked == nil || *head.Parked != 2 {
		t.Errorf("got %+v, %v; want that the second fact is parked", head, err)
	}
	other := &chain{w: w, id: events.NewID(events.WorkspacePrefix)}
	other.judged(t, other.append(t, events.WorkspaceCreated{}.EventType(), `{"accountId":"`+testworld.Account+`","name":"w"}`))
}

// changed is a log that returns something else.
type changed struct {
	facts.Log
	change func(records []events.Record) ([]events.Record, error)
}

func (c changed) Recall(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	records, end, err := c.Log.Recall(ctx, topic, partition, from, maxBytes, wait)
	if err == nil {
		records, err = c.change(records)
	}
	return records, end, err
}

// TestAnotherLogIsNotShown: a log that does not answer is unavailable, and one with other
// records than the read model has judged is an error.
func TestAnotherLogIsNotShown(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id, other := events.NewID(events.WorkspacePrefix), events.NewID(events.WorkspacePrefix)
	testworld.In(t, w, id, id, commands.CreateWorkspace{AccountID: testworld.Account, Name: "w"})
	testworld.In(t, w, id, id, commands.UpdateWorkspace{ID: id, Name: "v"})
	for name, c := range map[string]struct {
		change func([]events.Record) ([]events.Record, error)
		want   fault.Code
		says   string
	}{
		"no answer": {func([]events.Record) ([]events.Record, error) { return nil, errors.New("no connection") }, fault.Unavailable, "the log does not answer"},
		"nothing":   {func([]events.Record) ([]events.Record, error) { return nil, nil }, fault.Unavailable, "no record at"},
		"another stream": {func(records []events.Record) ([]events.Record, error) {
			return with(records, func(f *events.Frame) { f.Stream = other })
		}, fault.Internal, "another record"},
		"another chain": {func(records []events.Record) ([]events.Record, error) {
			return with(records, func(f *events.Frame) { f.Actor = "forger" })
		}, fault.Internal, "does not follow"},
	} {
		h := &history.History{DB: w.DB, Log: changed{w.EventLog, c.change}}
		_, err := h.Read(t.Context(), history.Query{Stream: id, From: 1, Limit: 100, Sees: every})
		if !fault.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s and %q in it", name, err, c.want, c.says)
		}
	}
}

// with returns the records with another frame.
func with(records []events.Record, change func(*events.Frame)) ([]events.Record, error) {
	out := make([]events.Record, len(records))
	for i, r := range records {
		f, _, err := events.ReadFrame(&r.Message)
		if err != nil {
			return nil, err
		}
		change(&f)
		out[i] = r
		out[i].Message, _ = f.Message(r.Value)
	}
	return out, nil
}
