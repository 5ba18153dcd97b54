package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"netsim/events"
)

// Problem is a defect of a bundle.
type Problem struct {
	Line int // in the file, from 1
	What string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.What) }

// BundleReport is what the verification of a bundle found.
type BundleReport struct {
	Account     string
	From, To    string
	Covered     string // when the last checkpoint was made, as the header says
	Verifier    string // the public key by which the seal was verified
	Lines       int
	Events      int
	Costs       int
	Checkpoints int
	Chains      []Chain
	Losses      int // accepted losses that the checkpoints name
	Totals      []string
	Rated       Rated
	Problems    []Problem
}

// Wanted is what the reader of a bundle expects. The zero value expects only
// that the bundle is consistent.
type Wanted struct {
	Verifier    string   // a public key of the log that the reader knows, current or not; "" trusts the bundle's own
	Account     string   // "" is any
	From, To    string   // days that the period must include, YYYY-MM-DD; "" is any
	Notes       []string // signed checkpoints that the reader holds, which must be in the bundle
	Preliminary bool     // accept a period that had not ended
	Strict      bool     // no loss of records may have been accepted
}

// Check returns an error for expectations that no bundle can meet.
func (w *Wanted) Check() error {
	if w.Account != "" && !events.ValidID(events.AccountPrefix, w.Account) {
		return fmt.Errorf("account %q is not an account id", w.Account)
	}
	for _, day := range []string{w.From, w.To} {
		if _, err := time.Parse(time.DateOnly, day); err != nil && day != "" {
			return fmt.Errorf("%q is not a date such as 2026-11-20", day)
		}
	}
	if w.From != "" && w.To != "" && w.To < w.From {
		return fmt.Errorf("to %s is before from %s", w.To, w.From)
	}
	return nil
}

// bundle is a bundle under verification.
type bundle struct {
	report BundleReport
	wanted Wanted
	keys   *ring
	header header
	text   [][]byte
	kinds  []string
	books  *books
	chains map[chainID]*chain
	costs  []numbered[costLine]
	totals []numbered[totalLine]
	notes  []numbered[checkpointLine]
	seals  []numbered[sealLine]
	lineOf map[Where]int // the line of each event
	kindAt int           // index in kinds of the latest kind so far
}

type chainID struct {
	stream    string
	partition int32
}

// chain is a chain's events; index 0 is sequence 1.
type chain struct {
	hashes []events.Hash
	lines  []int
	began  time.Time // the time of its first event
}

// numbered is a line's body and number.
type numbered[T any] struct {
	line int
	body *T
}

// VerifyBundle verifies a bundle without any server. It checks the number and
// checksum of every line, the hashes and chains of the events, their proofs in
// the checkpoints, and the signatures. It compares every cost and total with the
// events, rates every day again, and checks that the bundle is the wanted one.
// Without a key that the reader knows, this proves only that the bundle is
// consistent.
func VerifyBundle(r io.Reader, wanted Wanted) (BundleReport, error) {
	if err := wanted.Check(); err != nil {
		return BundleReport{}, err
	}
	b := &bundle{wanted: wanted, books: newBooks(), chains: map[chainID]*chain{}, lineOf: map[Where]int{}}
	lines, next := bufio.NewReaderSize(r, 1<<20), 1
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return b.report, fmt.Errorf("read the bundle: %w", err)
		}
		if len(text) > 0 {
			next = b.line(text, next)
		}
		if err != nil {
			break
		}
	}
	if len(b.seals) == 0 {
		b.problem(len(b.text)+1, "the seal is missing: the end was cut off")
	}
	b.period()
	b.follow()
	b.checkpoints()
	b.sealer()
	b.held()
	b.compareCosts()
	b.rate()
	for id, c := range b.chains {
		if len(c.hashes) == 0 {
			continue // the problem of its first event is reported
		}
		head := events.Head{Sequence: int64(len(c.hashes)), Hash: c.hashes[len(c.hashes)-1]}
		b.report.Chains = append(b.report.Chains, Chain{id.stream, id.partition, head})
	}
	slices.SortFunc(b.report.Chains, compareChains)
	slices.SortStableFunc(b.report.Problems, func(x, y Problem) int { return x.Line - y.Line })
	b.report.Verifier, b.report.Lines = b.keys.current(), len(b.text)
	return b.report, nil
}

func (b *bundle) problem(line int, format string, args ...any) {
	b.report.Problems = append(b.report.Problems, Problem{line, fmt.Sprintf(format, args...)})
}

// line verifies one line and returns the number that the next line must have.
func (b *bundle) line(text []byte, next int) int {
	at := len(b.text) + 1
	l, err := decodeLine(text)
	b.text, b.kinds = append(b.text, text), append(b.kinds, l.kind)
	switch {
	case l.number > next:
		b.problem(at, "it is numbered %d: lines %d to %d are missing before it, or it was moved", l.number, next, l.number-1)
	case l.number < next && l.kind != "":
		b.problem(at, "it is numbered %d, after %d: it is there twice, or was moved", l.number, next-1)
	}
	if l.number >= next {
		next = l.number
	}
	if err != nil {
		b.problem(at, "%v%s", err, eventText(l))
	}
	if order := slices.Index(append(kinds(), kindSeal), l.kind); order >= 0 {
		if order < b.kindAt || (order == 0) != (at == 1) || len(b.seals) > 0 {
			b.problem(at, "a line of kind %s is in the wrong position", l.kind)
		}
		b.kindAt = max(b.kindAt, order)
	}
	switch body := l.body.(type) {
	case *header:
		b.begin(at, body)
	case *eventLine:
		b.event(at, body)
	case *costLine:
		b.costs = append(b.costs, numbered[costLine]{at, body})
	case *totalLine:
		b.totals = append(b.totals, numbered[totalLine]{at, body})
	case *checkpointLine:
		b.notes = append(b.notes, numbered[checkpointLine]{at, body})
	case *sealLine:
		b.seals = append(b.seals, numbered[sealLine]{at, body})
	}
	return next + 1
}

// eventText returns the event of a line, as far as it can be read, for a message.
func eventText(l line) string {
	switch body := l.body.(type) {
	case *eventLine:
		if len(body.Frame) > 5 {
			return fmt.Sprintf(" (event %s of %s)", body.Frame[5], body.Frame[3])
		}
	case *costLine:
		return fmt.Sprintf(" (daily cost %d, event %d)", body.DailyCostID, body.Sequence)
	}
	return ""
}

func (b *bundle) begin(at int, h *header) {
	b.header = *h
	b.report.Account, b.report.From, b.report.To, b.report.Covered = h.Account, h.From, h.To, h.Covered
	if h.Format != bundleFormat {
		b.problem(at, "format %q is not %s", h.Format, bundleFormat)
	}
}

// event appends an event to its chain and folds it.
func (b *bundle) event(at int, e *eventLine) {
	f, err := e.fact()
	if err != nil {
		b.problem(at, "the event cannot be read: %v%s", err, eventText(line{body: e}))
		return
	}
	name := fmt.Sprintf("event %d of %s", f.Sequence, f.Stream)
	if f.Hash.String() != e.Hash {
		b.problem(at, "%s was changed: its hash is %s, not %s", name, f.Hash, e.Hash)
	}
	if f.Stream != b.header.Account && f.Stream != b.header.Platform {
		b.problem(at, "%s belongs to neither chain", name)
	}
	id := chainID{f.Stream, e.Partition}
	c := b.chains[id]
	if c == nil {
		c = &chain{began: f.Time}
		b.chains[id] = c
	}
	var head events.Head
	if n := len(c.hashes); n > 0 {
		head = events.Head{Sequence: int64(n), Hash: c.hashes[n-1]}
	}
	switch {
	case f.Sequence > head.Sequence+1:
		b.problem(at, "%s does not follow event %d: what was between them is missing", name, head.Sequence)
		return
	case f.Sequence <= head.Sequence:
		b.problem(at, "%s comes after event %d: it is there twice, or was moved", name, head.Sequence)
		return
	case f.PreviousHash != head.Hash:
		b.problem(at, "%s does not follow the event %d that stands before it: one of them was changed", name, head.Sequence)
	}
	c.hashes, c.lines = append(c.hashes, f.Hash), append(c.lines, at)
	b.report.Events++
	if f.Value == nil {
		return // withheld
	}
	f.Where.Offset = int64(at)
	b.lineOf[f.Where] = at
	_ = b.books.fold(&f)
}

// seal verifies the seal over all lines before it.
func (b *bundle) seal(at int, s *sealLine) {
	text, err := open(s.Seal, b.keys.current())
	if err != nil {
		b.problem(at, "the seal: %v", err)
		return
	}
	if !strings.HasPrefix(text, "netsim bundle v1\n") {
		b.problem(at, "the seal is not that of a bundle")
		return
	}
	sums := newDigests()
	for i := range at - 1 {
		sums.add(b.kinds[i], b.text[i])
	}
	here := sums.text(b.header.Account)
	if text == here {
		return
	}
	b.problem(at, "the seal is over other lines than these")
	found := strings.Split(here, "\n")
	for _, sealed := range strings.Split(text, "\n") {
		kind, rest, _ := strings.Cut(sealed, " ")
		if !slices.Contains(kinds(), kind) || slices.Contains(found, sealed) {
			continue
		}
		count, _, _ := strings.Cut(rest, " ")
		first := slices.Index(b.kinds, kind) + 1
		if first == 0 {
			first = at
		}
		b.problem(first, "the lines of kind %s, from here on, are not the %s that were sealed", kind, count)
	}
}
