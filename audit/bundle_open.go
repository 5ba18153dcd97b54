package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"netsim/events"
)

// Request selects the bundle to write.
type Request struct {
	Account  string
	From, To string // YYYY-MM-DD, both included
	Platform string // the stream of the rates
	// Preliminary allows a period that has not ended at the last checkpoint. Its
	// costs may still change, and a verification must allow it too.
	Preliminary bool
	// MostCosts bounds the costs of the period, with the versions that were replaced; 0 does
	// not. Writing needs memory for each of them.
	MostCosts int
}

// check validates the request, and returns the first and the last day of its
// period.
func (r *Request) check() (from, to time.Time, err error) {
	if !events.ValidID(events.AccountPrefix, r.Account) {
		return from, to, fmt.Errorf("account %q is not an account id", r.Account)
	}
	if from, err = time.Parse(time.DateOnly, r.From); err != nil {
		return from, to, fmt.Errorf("from %q is not a date such as 2026-11-20", r.From)
	}
	if to, err = time.Parse(time.DateOnly, r.To); err != nil {
		return from, to, fmt.Errorf("to %q is not a date such as 2026-11-20", r.To)
	}
	if to.Before(from) {
		return from, to, fmt.Errorf("to %s is before from %s", r.To, r.From)
	}
	return from, to, nil
}

// signed is a checkpoint with its note and its proofs.
type signed struct {
	Checkpoint
	note   string
	proofs []proof
}

// The reasons why no bundle can be written. They are wrapped by an error that says more.
var (
	// ErrNotCovered means that no checkpoint was made after the end of the period, or for a
	// preliminary bundle on its last day.
	ErrNotCovered = errors.New("the period is not covered")
	// ErrNoEvents means that the account has no event before the last checkpoint.
	ErrNoEvents = errors.New("the account has no events")
	// ErrTooManyCosts means that the period has more costs than Request.MostCosts.
	ErrTooManyCosts = errors.New("the period has too many costs")
	// ErrDiffers means that the log is not what a checkpoint has seen.
	ErrDiffers = errors.New("the log is not what a checkpoint has seen")
)

// Bundle is a bundle that is ready to be written: the log agrees with its checkpoints, which
// prove where its chains end.
type Bundle struct {
	log         *Log
	request     Request
	key         *Key
	moved       moved
	successions []string
	wanted      []*signed // never empty
}

// WriteBundle opens a bundle and writes it.
func WriteBundle(ctx context.Context, log *Log, r Request, key *Key, out io.Writer) error {
	b, err := OpenBundle(ctx, log, r, key)
	if err != nil {
		return err
	}
	return b.Write(ctx, out)
}

// OpenBundle reads the log of billing up to the last checkpoint, and proves the chains of
// the account and of the rates at each checkpoint since the period began. There must be a
// checkpoint after the end of the period; for a preliminary bundle, one from the last day
// of the period is enough. OpenBundle keeps the heads of the streams of billing in memory,
// and no record.
func OpenBundle(ctx context.Context, log *Log, r Request, key *Key) (*Bundle, error) {
	from, to, err := r.check()
	if err != nil {
		return nil, err
	}
	notes, err := log.checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	b := &Bundle{log: log, request: r, key: key}
	if b.moved, err = log.history(ctx); err != nil {
		return nil, err
	}
	keys := log.ring(notes, key.Verifier, b.moved)
	for _, n := range notes {
		c, err := keys.open(n.note)
		switch {
		case err != nil: // no succession leads to its key: it could not be verified
		case !c.Time.Before(from):
			b.wanted = append(b.wanted, &signed{Checkpoint: c, note: n.note})
		case c.Succession != (Succession{}):
			b.successions = append(b.successions, n.note)
		}
	}
	if current := keys.current(); current != key.Verifier {
		return nil, fmt.Errorf("%w than %s: that was succeeded by %s, which can seal the bundle", ErrOtherKey, key.Verifier, current)
	}
	covered := to.AddDate(0, 0, 1)
	if r.Preliminary {
		covered = to
	}
	if len(b.wanted) == 0 || b.last().Time.Before(covered) {
		return nil, fmt.Errorf("%w: the period to %s has no checkpoint of this key made at %s or later: netsim audit checkpoint makes one now, and a preliminary bundle may end on the checkpoint's day",
			ErrNotCovered, r.To, covered.Format(events.TimeLayout))
	}
	if err := b.prove(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// last returns the last checkpoint of the bundle.
func (b *Bundle) last() *signed { return b.wanted[len(b.wanted)-1] }

// prove judges the log of billing up to the last checkpoint, and proves the heads of both
// chains at each one.
func (b *Bundle) prove(ctx context.Context) error {
	parts := b.log.open(events.Billing)
	costs := booked{from: b.request.From, to: b.request.To}
	count := func(f *Fact) error {
		if b.request.MostCosts > 0 && f.Stream == b.request.Account {
			if costs.read(f); costs.count > b.request.MostCosts {
				return fmt.Errorf("%w: more than %d, with their versions", ErrTooManyCosts, b.request.MostCosts)
			}
		}
		return nil
	}
	for _, c := range b.wanted {
		for _, p := range parts {
			cut, err := b.cut(c, p)
			if err != nil {
				return err
			}
			if err := p.advance(ctx, cut.Next, count); err != nil {
				return err
			}
		}
		t, err := newTree(chains(parts))
		if err != nil {
			return err
		}
		if root, err := t.root(); err != nil || root != c.Root {
			return errors.Join(err, fmt.Errorf("%w: the log is not what checkpoint %s has seen; netsim audit verify shows where", ErrDiffers, c.Name))
		}
		c.proofs = []proof{}
		for _, stream := range []string{b.request.Platform, b.request.Account} {
			proofs, err := t.prove(stream)
			if err != nil {
				return err
			}
			c.proofs = append(c.proofs, proofs...)
		}
	}
	if !slices.ContainsFunc(b.last().proofs, func(p proof) bool { return p.Stream == b.request.Account }) {
		return fmt.Errorf("%w: account %s has no event before checkpoint %s", ErrNoEvents, b.request.Account, b.last().Name)
	}
	return nil
}

// cut returns what a checkpoint says about a partition.
func (b *Bundle) cut(c *signed, p *partition) (Part, error) {
	i := slices.IndexFunc(c.Parts, func(cut Part) bool {
		return cut.Family == p.topic.Family && cut.Partition == p.number && b.moved.isTopic(p.topic, cut.TopicID)
	})
	if i < 0 {
		return Part{}, fmt.Errorf("%w: checkpoint %s does not cover %s/%d", ErrDiffers, c.Name, p.topic.Name, p.number)
	}
	return c.Parts[i], nil
}
