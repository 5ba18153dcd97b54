package audit

import (
	"context"
	"fmt"
	"slices"
)

// Held looks in the log for signed checkpoints that the auditor holds, byte for
// byte. A log whose end was cut off together with its last checkpoints agrees
// with itself; what somebody else holds it has to have still.
func Held(ctx context.Context, log *Log, verifier string, notes []string) ([]Finding, error) {
	published, err := log.checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, n := range published {
		there[n.note] = true
	}
	var findings []Finding
	for i, held := range notes {
		c, err := OpenCheckpoint(held, verifier)
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
