package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/facts"
	"netsim/projections"
)

// The limits of a page. The contract has them.
const (
	MaxFolded      = 2000     // the last sequence whose states are shown
	maxFoldedBytes = 64 << 20 // of the data of the facts that are folded
	pageBytes      = 4 << 20  // of the data and states of a page, and of the records of one read
	readAtOnce     = 256      // records of one read
)

// logTimeout bounds the time in which the log returns a page. The request's own timeout
// can be shorter.
const logTimeout = 10 * time.Second

// History reads facts.
type History struct {
	DB  projections.Reader
	Log facts.Log
}

// Query asks for a page of the facts of a stream.
type Query struct {
	Stream string
	From   int64 // the first sequence
	Limit  int
	States bool
	// Sees reports whether the caller sees a fact. Facts that it does not see are left
	// out, but folded.
	Sees func(*facts.Fact) bool
}

// Page is a page of the facts of a stream.
type Page struct {
	Head  projections.StreamHead
	Facts []Fact
	Next  int64 // the first sequence of the next page; 0 if this is the last
}

// Fact is a fact, and with Query.States the states around it, as JSON.
type Fact struct {
	facts.Fact
	Before, After json.RawMessage
}

// Read reads a page of the facts of a stream. It returns NotFound for a stream without
// facts, Unprocessable if the states cannot be shown, and Unavailable if the log does not
// answer.
func (h *History) Read(ctx context.Context, q Query) (Page, error) {
	head, err := projections.FindStream(ctx, h.DB, q.Stream)
	page := Page{Head: head}
	if err != nil || q.From > head.Sequence {
		return page, err
	}
	first, last := q.From, min(q.From+int64(q.Limit)-1, head.Sequence)
	if q.States {
		if q.From > MaxFolded {
			return page, fault.New(fault.Unprocessable, "states are shown up to sequence %d of a stream, and from is %d; ask without state", MaxFolded, q.From)
		}
		first, last = 1, min(last, MaxFolded)
	}
	all, err := projections.StreamFacts(ctx, h.DB, head, first, last)
	if err != nil {
		return page, err
	}
	f, err := newFolder(q, head, all)
	if err != nil {
		return page, err
	}
	f.page = &page
	if err := h.each(ctx, all, f.add); err != nil {
		return page, err
	}
	if f.sequence < head.Sequence {
		page.Next = f.sequence + 1
	}
	return page, nil
}

// errFull ends the reading of a page.
var errFull = errors.New("the page is full")

// each reads the facts and calls do with each.
func (h *History) each(ctx context.Context, all []projections.FactAt, do func(facts.Fact) error) error {
	for len(all) > 0 {
		count, bytes := 0, int64(0)
		for count < min(len(all), readAtOnce) && (count == 0 || bytes+int64(all[count].Bytes) <= pageBytes) {
			bytes += int64(all[count].Bytes)
			count++
		}
		read, err := h.pick(ctx, all[:count])
		if err != nil {
			return err
		}
		for _, f := range read {
			if err := do(f); errors.Is(err, errFull) {
				return nil
			} else if err != nil {
				return err
			}
		}
		all = all[count:]
	}
	return nil
}

// pick reads facts of one partition, in the order of the log.
func (h *History) pick(ctx context.Context, at []projections.FactAt) ([]facts.Fact, error) {
	offsets := make([]int64, len(at))
	for i := range at {
		offsets[i] = at[i].Offset
	}
	family := events.Family(at[0].Family)
	reading, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	records, err := facts.Pick(reading, h.Log, family, at[0].Partition, offsets)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &fault.Fault{Code: fault.Unavailable, Message: "the log does not answer; repeat the request", RetryAfter: time.Second, Cause: err}
	}
	read := make([]facts.Fact, len(at))
	for i := range records {
		read[i] = facts.Decode(family, &records[i])
		if read[i].Stream != at[i].Stream || read[i].Sequence != at[i].Sequence {
			return nil, fmt.Errorf("the log has another record at %s/%d@%d than fact %d of stream %s", family, at[i].Partition, at[i].Offset, at[i].Sequence, at[i].Stream)
		}
	}
	return read, nil
}

// folder makes a page of the facts of a stream.
type folder struct {
	query    Query
	page     *Page
	state    commands.State // nil without states
	stops    int64          // the first sequence that is not folded
	sequence int64          // of the last fact
	hash     events.Hash    // of the last fact
	bytes    int            // of the page
}

func newFolder(q Query, head projections.StreamHead, all []projections.FactAt) (*folder, error) {
	f := &folder{query: q, stops: head.Sequence + 1}
	if !q.States {
		return f, nil
	}
	if head.Parked != nil {
		f.stops = *head.Parked
	}
	bytes := int64(0)
	for i := range all {
		if bytes += int64(all[i].Bytes); bytes > maxFoldedBytes {
			return nil, fault.New(fault.Unprocessable, "the facts up to sequence %d of stream %s have more than %d bytes of data, which is the most for states; ask without state", all[i].Sequence, q.Stream, maxFoldedBytes)
		}
	}
	var err error
	f.state, err = commands.ReadState(q.Stream, nil)
	return f, err
}

// add folds the next fact, and adds it to the page if it belongs there. It returns errFull
// after the last fact of a page that ends early.
func (f *folder) add(one facts.Fact) error {
	if f.sequence > 0 && one.PreviousHash != f.hash {
		return fmt.Errorf("fact %d of stream %s does not follow from the fact before it", one.Sequence, f.query.Stream)
	}
	f.sequence, f.hash = one.Sequence, one.Hash
	shown := one.Sequence >= f.query.From && f.query.Sees(&one)
	item := Fact{Fact: one}
	var err error
	if item.Before, err = f.stateIf(shown); err != nil {
		return err
	}
	if f.state != nil && one.Err == nil && one.Sequence < f.stops {
		f.state.Evolve(one.Event)
	} else {
		f.stops = 0 // what comes behind a fact that cannot be applied is not applied either
	}
	if item.After, err = f.stateIf(shown); err != nil || !shown {
		return err
	}
	f.page.Facts = append(f.page.Facts, item)
	if f.bytes += len(one.Record.Value) + len(item.Before) + len(item.After); f.bytes > pageBytes {
		return errFull
	}
	return nil
}

// stateIf returns the state if it is shown, nil without states.
func (f *folder) stateIf(shown bool) (json.RawMessage, error) {
	if f.state == nil || !shown {
		return nil, nil
	}
	text, err := json.Marshal(f.state)
	if err != nil {
		return nil, fmt.Errorf("encode the state of %s: %w", f.query.Stream, err)
	}
	return text, nil
}
