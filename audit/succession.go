package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Succession says that from a checkpoint on another key signs the log. Both
// keys sign that checkpoint: the old one the statement, the new one that it is
// there. The zero value is that of an ordinary checkpoint.
type Succession struct {
	From, To string // public keys
}

// ErrOtherKey says that a key may not sign the next checkpoint of a log.
var ErrOtherKey = errors.New("the log has another key")

// Continues returns ErrOtherKey unless the key may sign the checkpoint that
// follows a note: it signed that one, or is the successor that it names. Any
// key may sign the first, after the note "".
func (k *Key) Continues(note string) error {
	if note == "" {
		return nil
	}
	c, err := OpenCheckpoint(note, k.Verifier)
	if err == nil && c.Succession.From != "" && c.Succession.To != k.Verifier {
		err = fmt.Errorf("it hands over to %s", c.Succession.To)
	}
	if err != nil {
		return fmt.Errorf("%w than %s: of the newest checkpoint, %w", ErrOtherKey, k.Verifier, err)
	}
	return nil
}

// Succeed returns the note of a checkpoint over the chains of billing from
// which on the key signs the log in the place of another, signed by both.
func (c Checkpoint) Succeed(old, key *Key, chains []Chain) (string, error) {
	c.Succession = Succession{old.Verifier, key.Verifier}
	c, err := c.over(chains)
	if err != nil {
		return "", err
	}
	return sign(c.text(), old, key)
}

// check finds a succession that its two keys have not both signed, or that is
// of other keys than the verifier's.
func (s Succession) check(signed, verifier string) error {
	if s == (Succession{}) {
		return nil
	}
	if verifier != s.From && verifier != s.To {
		return fmt.Errorf("it is a succession from %s to %s, not of %s", s.From, s.To, verifier)
	}
	for _, key := range []string{s.From, s.To} {
		if _, err := open(signed, key); err != nil {
			return fmt.Errorf("the succession from %s to %s is not signed by both: %w", s.From, s.To, err)
		}
	}
	return nil
}

// ring has the keys of a log in the order in which they sign it. One of them is
// known; the others are tied to it by successions.
type ring struct {
	cluster string   // of the log
	keys    []string // the last signs the next note
}

// newRing returns the ring before the first of a log's notes, which stand in
// the order of the log. It has the known key, or the one that precedes it by
// the successions in the notes.
func newRing(notes []string, cluster, known string) *ring {
	first := known
	for _, note := range slices.Backward(notes) {
		c, err := OpenCheckpoint(note, first)
		if err == nil && c.Succession.To == first && c.Cluster == cluster {
			first = c.Succession.From
		}
	}
	return &ring{cluster, []string{first}}
}

func (r *ring) current() string { return r.keys[len(r.keys)-1] }

// open reads the next note of the log, which the current key must have signed,
// and takes the key that it names for the current one.
func (r *ring) open(note string) (Checkpoint, error) {
	c, err := OpenCheckpoint(note, r.current())
	if _, other := errors.AsType[*otherKeyError](err); other {
		return c, fmt.Errorf("%w, and no succession leads from that key to another", err)
	}
	switch {
	case err != nil:
		return c, err
	case c.Cluster != r.cluster:
		return c, fmt.Errorf("it is of cluster %s, this is %s", c.Cluster, r.cluster)
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

// Latest returns the newest checkpoint among signed notes, which stand in any
// order, of the log that a key signed last: one of this key, or of one that
// successions tie to it. It is the zero value when the key signed none.
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
	keys := newRing(notes, last.Cluster, known)
	for _, note := range notes {
		if c, err := keys.open(note); err == nil {
			last = c
		}
	}
	return last
}
