package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Succession replaces the key that signs the log, from a checkpoint on. Both keys
// sign that checkpoint: the old one to name its successor, the new one to prove
// that its owner has it. An ordinary checkpoint has the zero value.
type Succession struct {
	From, To string // public keys
}

// ErrOtherKey is wrapped by the error for a key that may not sign the next
// checkpoint of a log.
var ErrOtherKey = errors.New("the log has another key")

// Continues returns an error that wraps ErrOtherKey unless the key may sign the
// checkpoint after note: it signed the note, or the note names it as the successor.
// Any key may sign the first checkpoint, for which note is "".
func (k *Key) Continues(note string) error {
	if note == "" {
		return nil
	}
	c, err := OpenCheckpoint(note, k.Verifier)
	if err == nil && c.Succession.From != "" && c.Succession.To != k.Verifier {
		err = fmt.Errorf("it hands over to %s", c.Succession.To)
	}
	if err != nil {
		return fmt.Errorf("%w than %s: the newest checkpoint: %w", ErrOtherKey, k.Verifier, err)
	}
	return nil
}

// Succeed returns the signed note of a checkpoint over the chains of billing.
// From this checkpoint on, key signs the log instead of old.
func (c Checkpoint) Succeed(old, key *Key, chains []Chain) (string, error) {
	c.Succession = Succession{old.Verifier, key.Verifier}
	c, err := c.over(chains)
	if err != nil {
		return "", err
	}
	return sign(c.text(), old, key)
}

// check returns an error for a succession that is not signed by both of its keys,
// or that does not involve the verifier's key.
func (s Succession) check(signed, verifier string) error {
	if s == (Succession{}) {
		return nil
	}
	if verifier != s.From && verifier != s.To {
		return fmt.Errorf("it is a succession from %s to %s, and neither is %s", s.From, s.To, verifier)
	}
	for _, key := range []string{s.From, s.To} {
		if _, err := open(signed, key); err != nil {
			return fmt.Errorf("the succession from %s to %s is not signed by both: %w", s.From, s.To, err)
		}
	}
	return nil
}

// ring has the keys of a log in the order in which they signed it. One of them is
// known; successions prove the others.
type ring struct {
	clusters []string // of the log, now and before
	keys     []string // the last signs the next note
}

// newRing returns the ring as it is before the first of a log's notes, which are
// in the order of the log. It has one key: the earliest from which successions in
// the notes lead to the known key, or the known key itself if there is none.
func newRing(notes []string, clusters []string, known string) *ring {
	first := known
	for _, note := range slices.Backward(notes) {
		c, err := OpenCheckpoint(note, first)
		if err == nil && c.Succession.To == first && slices.Contains(clusters, c.Cluster) {
			first = c.Succession.From
		}
	}
	return &ring{clusters, []string{first}}
}

func (r *ring) current() string { return r.keys[len(r.keys)-1] }

// open reads the next note of the log, which the current key must have signed.
// After a succession the current key is the successor.
func (r *ring) open(note string) (Checkpoint, error) {
	c, err := OpenCheckpoint(note, r.current())
	if _, other := errors.AsType[*otherKeyError](err); other {
		return c, fmt.Errorf("%w, and no succession leads from that key to another", err)
	}
	switch {
	case err != nil:
		return c, err
	case !slices.Contains(r.clusters, c.Cluster):
		return c, fmt.Errorf("it is of cluster %s, this is %s", c.Cluster, r.clusters[len(r.clusters)-1])
	case c.Succession != (Succession{}):
		r.keys = append(r.keys, c.Succession.To)
	}
	return c, nil
}

// openAny reads a note that any key of the ring has signed.
func (r *ring) openAny(note string) (c Checkpoint, err error) {
	for _, key := range slices.Backward(r.keys) {
		if c, err = OpenCheckpoint(note, key); err == nil {
			return c, nil
		}
	}
	return c, err
}

// Latest returns the newest checkpoint among the signed notes, which may be in
// any order. It considers checkpoints signed by the known key, or by a key to
// which successions lead from it. If the known key signed several logs, the
// result is of the log that it signed last. If it signed none, the result is the
// zero value.
func Latest(notes []string, known string) (last Checkpoint) {
	made := map[string]Checkpoint{} // by note, not verified
	for _, note := range notes {
		text, _, _ := strings.Cut(note, "\n\n")
		if c, err := parseCheckpoint(text + "\n"); err == nil {
			made[note] = c
		}
	}
	notes = slices.DeleteFunc(slices.Clone(notes), func(note string) bool { return made[note].Time.IsZero() })
	slices.SortStableFunc(notes, func(a, b string) int { return made[a].Time.Compare(made[b].Time) })
	for _, note := range notes {
		if c, err := OpenCheckpoint(note, known); err == nil {
			last = c
		}
	}
	keys := newRing(notes, []string{last.Cluster}, known)
	for _, note := range notes {
		if c, err := keys.open(note); err == nil {
			last = c
		}
	}
	return last
}
