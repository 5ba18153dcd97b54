package audit

import (
	"context"
	"fmt"
	"slices"
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

// Held reports which of the auditor's signed checkpoints are not in the log byte for
// byte, or do not verify. A log that lost its end and the checkpoints in it is
// consistent; only a checkpoint that was kept elsewhere shows the loss.
func Held(ctx context.Context, log *Log, verifier string, notes []string) ([]Finding, error) {
	published, err := log.checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	keys := newRing(notesOf(published), log.Cluster, verifier)
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
