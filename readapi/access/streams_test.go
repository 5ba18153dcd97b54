package access_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/projections"
	"netsim/readapi/access"
)

// TestAdmittedStreamsAreThoseThatAreSeen: a caller is admitted to a stream if and only if it
// sees it by the rule. Of the others, those that another membership would show are Forbidden,
// and those of other accounts are as missing ones.
func TestAdmittedStreamsAreThoseThatAreSeen(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	a := &access.Access{DB: m.db, Rows: projections.NewLookups(m.db)}
	var all []string
	for kind, ids := range m.ids {
		if kind != "tracesets" { // some are uploads, which are no streams of tracesets yet
			all = append(all, ids...)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	rapid.Check(t, func(r *rapid.T) {
		c := callers().Draw(r, "caller")
		ctx := auth.WithCaller(t.Context(), c)
		everywhere := c
		everywhere.AllWorkspaces = true
		found, err := projections.Owners(ctx, m.db, all)
		if err != nil {
			r.Fatal(err)
		}
		if len(found) != len(all) {
			r.Fatalf("%d of %d streams have an owner", len(found), len(all))
		}
		for _, o := range found {
			owner := projections.Owner{AccountID: o.AccountID, WorkspaceID: o.WorkspaceID}
			_, _, err := a.AdmitStream(ctx, o.Stream, true)
			switch {
			case access.Streams(c, true).Has("", o.Stream, owner):
				if err != nil {
					r.Errorf("stream %s of %+v: %v, want that it is admitted", o.Stream, owner, err)
				}
			case access.Streams(everywhere, true).Has("", o.Stream, owner):
				if !fault.Is(err, fault.Forbidden) {
					r.Errorf("stream %s of %+v: %v, want Forbidden", o.Stream, owner, err)
				}
			default:
				_, _, missing := a.AdmitStream(ctx, events.NewID("sim"), true)
				if !fault.Is(err, fault.NotFound) || !fault.Is(missing, fault.NotFound) {
					r.Errorf("stream %s of %+v: %v, a missing one: %v; want NotFound of both", o.Stream, owner, err, missing)
				}
			}
		}
	})
}
