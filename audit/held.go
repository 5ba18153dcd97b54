package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"netsim/events"
)

// LastNote returns the newest signed checkpoint in the log, not verified; ""
// when there is none.
func (l *Log) LastNote(ctx context.Context) (string, error) {
	notes, err := l.checkpoints(ctx)
	if err != nil || len(notes) == 0 {
		return "", err
	}
	return notes[len(notes)-1].note, nil
}

// Checkpoint returns the newest checkpoint in the log with a name, and its signed note;
// for the name "" the newest of all that have heads. It must verify with the verifier's
// key or a key that successions prove from it.
func (l *Log) Checkpoint(ctx context.Context, verifier, name string) (c Checkpoint, note string, err error) {
	notes, err := l.checkpoints(ctx)
	if err != nil {
		return c, "", err
	}
	m, err := l.history(ctx)
	if err != nil {
		return c, "", err
	}
	keys := l.ring(notes, verifier, m)
	bad := errors.New("there is none")
	for _, n := range notes {
		opened, err := keys.open(n.note)
		switch wanted := n.name == name || name == "" && opened.Heads != (events.Hash{}); {
		case err != nil && n.name == name:
			bad = err
		case err == nil && wanted:
			c, note = opened, n.note
		}
	}
	switch {
	case note != "":
		return c, note, nil
	case name == "":
		return c, "", errors.New("no checkpoint of the log names heads")
	}
	return c, "", fmt.Errorf("checkpoint %s of the log: %w", name, bad)
}

// Held reports which of the auditor's signed checkpoints are not in the log byte for
// byte, or do not verify. A log that lost its end and the checkpoints in it is
// consistent; only a checkpoint that was kept elsewhere shows the loss.
func Held(ctx context.Context, log *Log, verifier string, notes []string) ([]Finding, error) {
	published, err := log.checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	m, err := log.history(ctx)
	if err != nil {
		return nil, err
	}
	keys := log.ring(published, verifier, m)
	for _, n := range published {
		there[n.note] = true
		_, _ = keys.open(n.note) // Verify reports what is wrong with it
	}
	var findings []Finding
	for i, held := range notes {
		c, err := keys.openAny(held)
		switch {
		case err != nil:
			findings = append(findings, Finding{What: fmt.Sprintf("note %d that you hold: %v", i+1, err)})
		case !there[held]:
			findings = append(findings, Finding{What: fmt.Sprintf(
				"the log has no checkpoint %s of %s, which you hold: it is another log, or its end was cut off", c.Name, c.Time.Format("2006-01-02 15:04:05"))})
		}
	}
	return slices.Clip(findings), nil
}
