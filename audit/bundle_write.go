package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"netsim/events"
)

// Write writes the bundle. It reads the chains of the rates and of the account again, and
// keeps the costs of the period in memory, but no event. What it has written when it
// returns an error has no seal.
func (b *Bundle) Write(ctx context.Context, out io.Writer) error {
	r, last := &b.request, b.last()
	w := newBundleWriter(out)
	w.add(kindHeader, &header{
		Format: bundleFormat, Account: r.Account, Platform: r.Platform, From: r.From, To: r.To,
		Covered: last.Time.Format(events.TimeLayout), Cluster: b.log.Cluster, MovedFrom: b.moved.clusters, Verifier: b.key.Verifier, Successions: b.successions,
	})
	costs := booked{from: r.From, to: r.To}
	for _, p := range last.proofs {
		err := b.chain(ctx, &p, func(f *Fact) error {
			w.add(kindEvent, eventOf(f, isOthers(f, r.Account)))
			if f.Stream == r.Account {
				costs.add(f)
			}
			return w.err
		})
		if err != nil {
			return err
		}
	}
	totals := totalsOf(costs.lines)
	for i := range costs.lines {
		w.add(kindCost, &costs.lines[i])
	}
	for i := range totals {
		w.add(kindTotal, &totals[i])
	}
	for _, c := range b.wanted {
		w.add(kindCheckpoint, &checkpointLine{c.note, c.proofs})
	}
	return w.seal(r.Account, b.key)
}

// errHead ends the reading of a chain at its head.
var errHead = errors.New("the head of the chain")

// chain calls each with the events of a chain up to the head that the proof names.
func (b *Bundle) chain(ctx context.Context, of *proof, each func(*Fact) error) error {
	for _, p := range b.log.open(events.Billing) {
		if p.number != of.Partition {
			continue
		}
		p.undigested = true
		cut, err := b.cut(b.last(), p)
		if err != nil {
			return err
		}
		err = p.advance(ctx, cut.Next, func(f *Fact) error {
			if f.Stream != of.Stream {
				return nil
			}
			if err := each(f); err != nil {
				return err
			}
			if f.Sequence == of.Sequence {
				return errHead
			}
			return nil
		})
		if err != nil && !errors.Is(err, errHead) {
			return err
		}
		if head := p.heads[of.Stream]; head == nil || head.Sequence != of.Sequence || head.Hash.String() != of.Hash {
			return fmt.Errorf("%w: %s has another event %d than when its proof was made", ErrDiffers, of.Stream, of.Sequence)
		}
	}
	return nil
}

// isOthers reports whether an event is a rate of another account.
func isOthers(f *Fact, account string) bool {
	data, err := events.Decode(f.Type, f.Value)
	d, ok := data.(events.RateSet)
	return err == nil && ok && d.AccountID != "" && d.AccountID != account
}

// booked collects the costs of a period as a replay has them in the end: the last version
// of each row, and all corrections.
type booked struct {
	from, to string
	lines    []costLine
	count    int // costs of the period, with the versions that were replaced
	rows     map[bookedRow]int
	readers  readers
	cost     events.DailyCostRated // read last
}

// bookedRow names the row of a cost that is not a correction.
type bookedRow struct {
	item int64
	date string
	rate int64
}

// read reads a fact and reports whether it is a cost of the period. A verification reports
// a cost that cannot be read.
func (b *booked) read(f *Fact) bool {
	b.cost = events.DailyCostRated{}
	if f.Type != costType || b.readers.decodeCost(f.Value, &b.cost) != nil || b.cost.Date < b.from || b.cost.Date > b.to {
		return false
	}
	b.count++
	return true
}

// add adds a fact if it is a cost of the period.
func (b *booked) add(f *Fact) {
	if !b.read(f) {
		return
	}
	c := costOf(&b.cost, f.Sequence)
	row := bookedRow{c.BillingItemID, c.Date, c.RateID}
	at, known := b.rows[row]
	switch {
	case c.CorrectionOf != 0:
		b.lines = append(b.lines, c)
	case known:
		b.lines[at] = c
	default:
		if b.rows == nil {
			b.rows = map[bookedRow]int{}
		}
		b.rows[row] = len(b.lines)
		b.lines = append(b.lines, c)
	}
}

// bundleWriter writes lines with their numbers and checksums. It keeps the first error.
type bundleWriter struct {
	out  *bufio.Writer
	sums *digests
	err  error
}

// writtenBytes is about how much is written at a time.
const writtenBytes = 64 << 10

func newBundleWriter(out io.Writer) *bundleWriter {
	return &bundleWriter{out: bufio.NewWriterSize(out, writtenBytes), sums: newDigests()}
}

func (w *bundleWriter) add(kind string, body any) {
	if w.err != nil {
		return
	}
	text, err := line{w.sums.lines + 1, kind, body}.encode()
	if err == nil {
		w.sums.add(kind, text)
		_, err = w.out.Write(text)
	}
	w.err = err
}

// seal adds the seal and ends the bundle.
func (w *bundleWriter) seal(account string, key *Key) error {
	note, err := sign(w.sums.text(account), key)
	if err != nil {
		return err
	}
	w.add(kindSeal, &sealLine{note})
	if w.err != nil {
		return w.err
	}
	return w.out.Flush()
}
