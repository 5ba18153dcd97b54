package access_test

import (
	"testing"

	"pgregory.net/rapid"

	"netsim/fault"
	"netsim/infra/auth"
	"netsim/projections"
	"netsim/readapi/access"
)

// TestWhoMayChange: of the templates and tracesets that a caller sees, shared ones too, the
// caller may delete the account's own templates, and change the account's own tracesets in
// workspaces that the caller is a member of. A service for all accounts may change any
// traceset, and no template.
func TestWhoMayChange(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	a := &access.Access{DB: m.db, Rows: projections.NewLookups(m.db)}
	rapid.Check(t, func(r *rapid.T) {
		c := callers().Draw(r, "caller")
		ctx := auth.WithCaller(t.Context(), c)
		check := func(what, id string, err error, own bool) {
			kind := what + "s"
			switch seen := read(ctx, a, kind, id); {
			case seen != nil:
				if fault.CodeOf(err) != fault.CodeOf(seen) {
					r.Errorf("change %s %s: %v, want %v, as a read", what, id, err, seen)
				}
			case own && err != nil:
				r.Errorf("change own %s %s of %s in %s: %v", what, id, m.account[id], m.workspace[id], err)
			case !own && !fault.Is(err, fault.Forbidden):
				r.Errorf("change %s %s of %s in %s: %v, want Forbidden", what, id, m.account[id], m.workspace[id], err)
			}
		}
		for _, id := range m.ids["templates"] {
			check("template", id, a.AdmitTemplateDeletion(ctx, id), m.account[id] == c.AccountID)
		}
		for _, id := range m.ids["tracesets"] {
			_, _, err := a.OwnTraceset(ctx, id)
			own := m.account[id] == c.AccountID || c.Platformwide()
			check("traceset", id, err, own && c.MemberOf(m.workspace[id]))
		}
	})
}
