package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"netsim/events"
)

// checkpoints verifies the signed checkpoints, the proofs that the chains of the
// bundle are in them, and that the last one covers every event.
func (b *bundle) checkpoints() {
	previous := ""
	proven := map[chainID]int64{}
	for i, l := range b.notes {
		c, err := b.keys.open(l.body.Note)
		if err != nil {
			b.problem(l.line, "the checkpoint: %v", err)
			continue
		}
		b.report.Checkpoints++
		if n := len(c.Losses); b.wanted.Strict && n > b.report.Losses {
			b.problem(l.line, "checkpoint %s names %d losses of the log that operators accepted", c.Name, n)
		}
		b.report.Losses = max(b.report.Losses, len(c.Losses))
		if i > 0 && c.Previous != HashOf(previous) {
			b.problem(l.line, "checkpoint %s does not follow the one before it: one was removed or changed", c.Name)
		}
		previous = l.body.Note
		before := maps.Clone(proven)
		clear(proven)
		for _, p := range l.body.Proofs {
			if err := p.check(c.Chains, c.Root); err != nil {
				b.problem(l.line, "checkpoint %s: %v", c.Name, err)
				continue
			}
			id := chainID{p.Stream, p.Partition}
			proven[id] = max(p.Sequence, 0)
			if ch := b.chains[id]; ch == nil || p.Sequence < 1 || p.Sequence > int64(len(ch.hashes)) {
				b.problem(b.endOf(ch, l.line), "after this line event %d of %s is missing, which checkpoint %s has seen", p.Sequence, p.Stream, c.Name)
			} else if ch.hashes[p.Sequence-1].String() != p.Hash {
				b.problem(ch.lines[p.Sequence-1], "event %d of %s is not the one that checkpoint %s has seen", p.Sequence, p.Stream, c.Name)
			}
		}
		b.proofsMissing(l.line, &c, before, proven)
		if i == len(b.notes)-1 && b.header.Covered != c.Time.Format(events.TimeLayout) {
			b.problem(l.line, "the last checkpoint was made at %s, the header says %s", c.Time.Format(events.TimeLayout), b.header.Covered)
		}
	}
	for id, ch := range b.chains {
		if n := int64(len(ch.hashes)); n > proven[id] {
			b.problem(ch.lines[proven[id]], "event %d of %s is after what the last checkpoint has seen", proven[id]+1, id.stream)
		}
	}
	if len(b.notes) == 0 {
		b.problem(len(b.text), "there is no checkpoint: nothing says that the events are those of the log")
	}
}

// follow sets b.keys to the keys of the log up to the one that signs the bundle's
// first checkpoint. The successions in the bundle link them to the known key,
// which may be older or newer.
func (b *bundle) follow() {
	known := cmp.Or(b.wanted.Verifier, b.header.Verifier)
	notes := slices.Clone(b.header.Successions)
	for _, l := range b.notes {
		notes = append(notes, l.body.Note)
	}
	b.keys = newRing(notes, append(slices.Clone(b.header.MovedFrom), b.header.Cluster), known)
	for _, note := range b.header.Successions {
		if _, err := b.keys.open(note); err != nil {
			b.problem(1, "a succession of the log's keys: %v", err)
		}
	}
}

// sealer verifies that the bundle is sealed by the log's key as of the last
// checkpoint.
func (b *bundle) sealer() {
	known := cmp.Or(b.wanted.Verifier, b.header.Verifier)
	if b.header.Verifier != b.keys.current() || !slices.Contains(b.keys.keys, known) {
		b.problem(1, "the bundle was sealed with the key %s, which is not the one given, %s, nor the last of its signed successors", b.header.Verifier, known)
	}
	for _, s := range b.seals {
		b.seal(s.line, s.body)
	}
}

// proofsMissing reports the chains that must be in a checkpoint but have no proof
// in it, and the chains of which it proves fewer events than the checkpoint before
// it. Without a proof the end of a chain could be cut off unnoticed. A chain that
// began shortly before the checkpoint may be too new for it.
func (b *bundle) proofsMissing(at int, c *Checkpoint, before, proven map[chainID]int64) {
	for id, ch := range b.chains {
		switch {
		case proven[id] < before[id]:
			b.problem(at, "checkpoint %s proves event %d of %s, the one before it event %d", c.Name, proven[id], id.stream, before[id])
		case proven[id] == 0 && c.Time.Sub(ch.began) > settling:
			b.problem(at, "the proof of %s at checkpoint %s is missing", id.stream, c.Name)
		}
	}
}

// period compares the bundle's account and days with the wanted ones.
func (b *bundle) period() {
	h, w := &b.header, &b.wanted
	if w.Account != "" && h.Account != w.Account {
		b.problem(1, "the bundle is of account %s, not of %s", h.Account, w.Account)
	}
	from, errFrom := time.Parse(time.DateOnly, h.From)
	to, errTo := time.Parse(time.DateOnly, h.To)
	covered, errCovered := time.Parse(events.TimeLayout, h.Covered)
	if errFrom != nil || errTo != nil || errCovered != nil || to.Before(from) {
		b.problem(1, "from %q to %q, coveredUntil %q: that is not a period", h.From, h.To, h.Covered)
		return
	}
	if w.From != "" && w.From < h.From || w.To != "" && w.To > h.To {
		b.problem(1, "the bundle is of the days from %s to %s, not from %s to %s",
			h.From, h.To, cmp.Or(w.From, h.From), cmp.Or(w.To, h.To))
	}
	if ends := to.AddDate(0, 0, 1); covered.Before(ends) && !w.Preliminary {
		b.problem(1, "the period ends at %s and is covered until %s only: it had not ended", ends.Format(events.TimeLayout), h.Covered)
	}
}

// held reports the reader's checkpoints that are not in the bundle.
func (b *bundle) held() {
	for i, note := range b.wanted.Notes {
		c, err := b.keys.openAny(note)
		switch {
		case err != nil:
			b.problem(len(b.text), "note %d that you hold: %v", i+1, err)
		case !slices.ContainsFunc(b.notes, func(l numbered[checkpointLine]) bool { return l.body.Note == note }):
			b.problem(len(b.text), "the bundle has no checkpoint %s of %s, which you hold: it was made from another log or one whose end was cut off, or its period begins later",
				c.Name, c.Time.Format(events.TimeLayout))
		}
	}
}

// endOf returns the line of a chain's last event, or fallback for a chain without
// events.
func (b *bundle) endOf(c *chain, fallback int) int {
	if c == nil || len(c.lines) == 0 {
		return fallback
	}
	return c.lines[len(c.lines)-1]
}

// compareCosts compares the costs and totals with those that follow from the
// events.
func (b *bundle) compareCosts() {
	costs, totals := b.books.account(b.header.Account).costsOf(b.header.From, b.header.To)
	b.report.Costs = len(b.costs)
	at := len(b.text)
	for i := range max(len(costs), len(b.costs)) {
		if i < len(b.costs) {
			at = b.costs[i].line
		}
		if i >= len(costs) || i >= len(b.costs) || costs[i] != *b.costs[i].body {
			b.problem(at, "%s", costDifference(costs, b.costs, i))
			if len(costs) != len(b.costs) {
				break // the others are shifted by one
			}
		}
	}
	for i := range max(len(totals), len(b.totals)) {
		switch {
		case i >= len(b.totals):
			b.problem(at, "the total of %s is missing: %s %s", totals[i].RateName, totals[i].Total, totals[i].Currency)
		case i >= len(totals) || totals[i] != *b.totals[i].body:
			b.problem(b.totals[i].line, "the total of %s, %s %s, is not what its costs add up to",
				b.totals[i].body.RateName, b.totals[i].body.Total, b.totals[i].body.Currency)
		}
		if i < len(totals) {
			b.report.Totals = append(b.report.Totals, fmt.Sprintf("%s %s %s", totals[i].RateName, totals[i].Total, totals[i].Currency))
		}
	}
}

func costDifference(want []costLine, got []numbered[costLine], i int) string {
	switch {
	case i >= len(got):
		return fmt.Sprintf("daily cost %d, of event %d, is missing", want[i].DailyCostID, want[i].Sequence)
	case i >= len(want):
		return fmt.Sprintf("daily cost %d has no event here in the period", got[i].body.DailyCostID)
	}
	return fmt.Sprintf("daily cost %d is not as its event says: %+v, event %d says %+v",
		got[i].body.DailyCostID, *got[i].body, want[i].Sequence, want[i])
}

// rate rates every day again.
func (b *bundle) rate() {
	until, err := time.Parse(events.TimeLayout, b.header.Covered)
	if err != nil {
		return // period has reported it
	}
	b.report.Rated = b.books.rerate(until, dayOf(until.Add(-settling)))
	for _, f := range b.books.findings {
		b.problem(max(b.lineOf[f.At], 1), "%s", f.What)
	}
}
