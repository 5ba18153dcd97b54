package readapi

import (
	"cmp"
	"encoding/json"
	"time"

	"netsim/api"
	"netsim/fault"
	"netsim/infra/auth"
	web "netsim/infra/web"
	"netsim/projections"
)

// listing is what a list request says about where it is in which list.
type listing struct {
	cursors *web.Cursors
	binding []byte
	page    projections.Page
}

// asked are the page parameters of a list request.
type asked struct {
	limit, otherwise int64 // otherwise is the limit of a request without one
	next, cursor     string
}

// listing reads the page parameters. A cursor is bound to the route, to what
// the caller can see, and to everything that decides what is in the list and
// in which order.
func (a *API) listing(caller auth.Caller, route string, q asked, filters ...string) (listing, error) {
	l := listing{cursors: a.Cursors, binding: web.Binding(route, append(filters, reach(caller))...)}
	l.page.Limit = int(cmp.Or(q.limit, q.otherwise))
	if q.next != "" && q.cursor != "" && q.next != q.cursor {
		return l, fault.New(fault.Validation, "next and cursor are two names of one parameter; give one of them")
	}
	cursor := cmp.Or(q.next, q.cursor)
	if cursor == "" {
		return l, nil
	}
	position, err := l.cursors.Open(l.binding, cursor)
	if err != nil {
		return l, err
	}
	if json.Unmarshal(position, &l.page.After) != nil || l.page.After == nil {
		return l, errCursor() // of another release
	}
	return l, nil
}

// errCursor refuses a cursor of ours that is not of this form.
func errCursor() error { return fault.New(fault.Validation, "cursor is invalid or expired") }

// seal returns the cursor of a position, "" for none.
func (l listing) seal(position []string) string {
	if position == nil {
		return ""
	}
	text, _ := json.Marshal(position) //nolint:errchkjson // strings always encode
	return l.cursors.Seal(l.binding, text)
}

func (l listing) pagination(count int, next []string) api.Pagination {
	return api.Pagination{Count: int64(count), HasMore: next != nil, NextCursor: l.seal(next)}
}

func period(after, before api.Timestamp) projections.Period {
	return projections.Period{From: after.Time, To: before.Time}
}

// filterTime renders a time filter for a cursor's binding.
func filterTime(t api.Timestamp) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func timestamp(t time.Time) api.Timestamp { return api.Timestamp{Time: t} }

func timestampOf(t *time.Time) api.Timestamp {
	if t == nil {
		return api.Timestamp{}
	}
	return timestamp(*t)
}
