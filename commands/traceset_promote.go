package commands

import (
	"slices"
	"time"

	"netsim/events"
	"netsim/fault"
)

// PromoteTraceset makes a traceset visible to its account or, in a second step, to
// everyone. It changes nothing when the scope is that wide already. Source: document 2,
// completions 6.1, 6.4.
type PromoteTraceset struct {
	ID          string
	Target      string   // ScopeTenant or ScopePublic
	Description string   // "" for the stored one
	Tags        []string // nil for the stored ones
	Workload    string   // canonical JSON text, "" for the stored one
}

// Decide implements Command.
func (c PromoteTraceset) Decide(t *Traceset, _ time.Time) (events.Data, error) {
	if err := t.live(c.ID); err != nil {
		return nil, err
	}
	scopes := []string{ScopeWorkspace, ScopeTenant, ScopePublic}
	from, to := slices.Index(scopes, t.Scope), slices.Index(scopes, c.Target)
	switch {
	case t.Status != TracesetReady:
		return nil, fault.New(fault.Conflict, "traceset %s is %s, not ready", c.ID, t.Status)
	case from >= to:
		return nil, nil
	case to > from+1:
		return nil, fault.New(fault.PreconditionFailed, "traceset %s is of scope %s; promote it to %s first", c.ID, t.Scope, scopes[from+1])
	case !t.HasWorkload && c.Workload == "":
		return nil, fault.New(fault.PreconditionFailed, "traceset %s has no workloadMetadata, which promotion needs", c.ID)
	}
	return events.TracesetPromoted{From: t.Scope, To: c.Target, Description: c.Description, Tags: c.Tags, Workload: c.Workload}, nil
}
