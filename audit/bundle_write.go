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

// WriteBundle reads the log of billing up to the last checkpoint and writes the
// bundle of an account. There must be a checkpoint after the end of the period;
// for a preliminary bundle, one from the last day of the period is enough.
func WriteBundle(ctx context.Context, log *Log, r Request, key *Key, out io.Writer) error {
	from, to, err := r.check()
	if err != nil {
		return err
	}
	notes, err := log.checkpoints(ctx)
	if err != nil {
		return err
	}
	var wanted []*signed
	var successions []string
	m, err := log.history(ctx)
	if err != nil {
		return err
	}
	keys := log.ring(notes, key.Verifier, m)
	for _, n := range notes {
		c, err := keys.open(n.note)
		switch {
		case err != nil: // no succession leads to its key: it could not be verified
		case !c.Time.Before(from):
			wanted = append(wanted, &signed{Checkpoint: c, note: n.note})
		case c.Succession != (Succession{}):
			successions = append(successions, n.note)
		}
	}
	if current := keys.current(); current != key.Verifier {
		return fmt.Errorf("%w than %s: that was succeeded by %s, which can seal the bundle", ErrOtherKey, key.Verifier, current)
	}
	covered := to.AddDate(0, 0, 1)
	if r.Preliminary {
		covered = to
	}
	if len(wanted) == 0 || wanted[len(wanted)-1].Time.Before(covered) {
		return fmt.Errorf("the period to %s has no checkpoint of this key made at %s or later: netsim audit checkpoint makes one now, and a preliminary bundle may end on the checkpoint's day",
			r.To, covered.Format(events.TimeLayout))
	}
	facts, err := gather(ctx, log, &r, wanted, m)
	if err != nil {
		return err
	}
	w := bundleWriter{out: out}
	last := wanted[len(wanted)-1]
	w.add(kindHeader, &header{
		Format: bundleFormat, Account: r.Account, Platform: r.Platform, From: r.From, To: r.To,
		Covered: last.Time.Format(events.TimeLayout), Cluster: log.Cluster, MovedFrom: m.clusters, Verifier: key.Verifier, Successions: successions,
	})
	b := newBooks()
	for _, f := range facts {
		withheld := isOthers(f, r.Account)
		w.add(kindEvent, eventOf(f, withheld))
		if !withheld {
			_ = b.fold(f)
		}
	}
	costs, totals := b.account(r.Account).costsOf(r.From, r.To)
	for i := range costs {
		w.add(kindCost, &costs[i])
	}
	for i := range totals {
		w.add(kindTotal, &totals[i])
	}
	for _, c := range wanted {
		w.add(kindCheckpoint, &checkpointLine{c.note, c.proofs})
	}
	return w.seal(r.Account, key)
}

// gather collects the facts of the rate chain and of the account's chain up to
// the last checkpoint, and proves the head of both at each checkpoint.
func gather(ctx context.Context, log *Log, r *Request, wanted []*signed, m moved) (facts []*Fact, err error) {
	parts := log.open(events.Billing)
	var rates []*Fact
	keep := func(f *Fact) error {
		kept := *f
		switch f.Stream {
		case r.Account:
			facts = append(facts, &kept)
		case r.Platform:
			rates = append(rates, &kept)
		}
		return nil
	}
	for _, c := range wanted {
		for _, p := range parts {
			i := slices.IndexFunc(c.Parts, func(cut Part) bool {
				return cut.Family == p.topic.Family && cut.Partition == p.number && m.isTopic(p.topic, cut.TopicID)
			})
			if i < 0 {
				return nil, fmt.Errorf("checkpoint %s does not cover %s/%d", c.Name, p.topic.Name, p.number)
			}
			if err := p.advance(ctx, c.Parts[i].Next, keep); err != nil {
				return nil, err
			}
		}
		t, err := newTree(chains(parts))
		if err != nil {
			return nil, err
		}
		if root, err := t.root(); err != nil || root != c.Root {
			return nil, errors.Join(err, fmt.Errorf("the log is not what checkpoint %s has seen; netsim audit verify shows where", c.Name))
		}
		c.proofs = []proof{}
		for _, stream := range []string{r.Platform, r.Account} {
			proofs, err := t.prove(stream)
			if err != nil {
				return nil, err
			}
			c.proofs = append(c.proofs, proofs...)
		}
	}
	if len(facts) == 0 {
		return nil, fmt.Errorf("account %s has no event before checkpoint %s", r.Account, wanted[len(wanted)-1].Name)
	}
	return append(rates, facts...), nil
}

// isOthers reports whether an event is a rate of another account.
func isOthers(f *Fact, account string) bool {
	data, err := events.Decode(f.Type, f.Value)
	d, ok := data.(events.RateSet)
	return err == nil && ok && d.AccountID != "" && d.AccountID != account
}

// bundleWriter collects lines with their numbers and checksums. It keeps the
// first error.
type bundleWriter struct {
	out   io.Writer
	lines [][]byte
	kinds []string
	err   error
}

func (w *bundleWriter) add(kind string, body any) {
	text, err := line{len(w.lines) + 1, kind, body}.encode()
	if w.err == nil {
		w.err = err
	}
	w.lines, w.kinds = append(w.lines, text), append(w.kinds, kind)
}

// seal adds the seal and writes all lines.
func (w *bundleWriter) seal(account string, key *Key) error {
	note, err := sign(sealText(account, w.lines, w.kinds), key)
	if err != nil {
		return err
	}
	w.add(kindSeal, &sealLine{note})
	for _, l := range w.lines {
		if w.err != nil {
			break
		}
		_, w.err = w.out.Write(l)
	}
	return w.err
}
