package readapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"netsim/api"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
)

// listing is a request for a page of a list.
type listing struct {
	caller  auth.Caller
	cursors *web.Cursors
	binding []byte
	page    projections.Page
}

func (a *API) listing(ctx context.Context, request any, defaultLimit int64) (listing, error) {
	return newListing(ctx, a.Cursors, request, defaultLimit)
}

// newListing reads the page parameters of a generated request object: the limit,
// next and cursor of its Params. A cursor is bound to the operation, to the other
// parameters and to what the caller may see. It is refused when one of them
// changes.
func newListing(ctx context.Context, cursors *web.Cursors, request any, defaultLimit int64) (listing, error) {
	caller, err := access.Caller(ctx)
	if err != nil {
		return listing{}, err
	}
	list := reflect.New(reflect.TypeOf(request)).Elem()
	list.Set(reflect.ValueOf(request))
	params := list.FieldByName("Params")
	limit, next, cursor := params.FieldByName("Limit"), params.FieldByName("Next"), params.FieldByName("Cursor")
	l := listing{caller: caller, cursors: cursors}
	l.page.Limit = int(cmp.Or(limit.Int(), defaultLimit))
	if next.String() != "" && cursor.String() != "" && next.String() != cursor.String() {
		return l, fault.New(fault.Validation, "next and cursor are two names of one parameter; give one of them")
	}
	given := cmp.Or(next.String(), cursor.String())
	for _, f := range []reflect.Value{limit, next, cursor} {
		f.SetZero()
	}
	parameters, err := json.Marshal(list.Interface())
	if err != nil {
		return l, fmt.Errorf("bind a cursor to %s: %w", list.Type().Name(), err)
	}
	l.binding = web.Binding(list.Type().Name(), string(parameters), access.Reach(caller))
	if given == "" {
		return l, nil
	}
	position, err := cursors.Open(l.binding, given)
	if err != nil {
		return l, err
	}
	if json.Unmarshal(position, &l.page.After) != nil || l.page.After == nil {
		return l, errCursor() // the cursor is from another release
	}
	return l, nil
}

// errCursor refuses a cursor whose position does not fit the list.
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

func timestamp(t time.Time) api.Timestamp { return api.Timestamp{Time: t} }

func timestampOf(t *time.Time) api.Timestamp {
	if t == nil {
		return api.Timestamp{}
	}
	return timestamp(*t)
}
