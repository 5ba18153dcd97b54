package web

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func TestListReply(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key, rows, cursor string
		count             int
		want              string
	}{
		"empty": {key: "items", want: `{"items":[],"pagination":{"count":0,"hasMore":false}}`},
		"last page": {
			key: "logs", rows: `{"a":1}`, count: 1,
			want: `{"logs":[{"a":1}],"pagination":{"count":1,"hasMore":false}}`,
		},
		"more": {
			key: "simulations", rows: `{"a":1},{"b":2}`, count: 2, cursor: "abc-_",
			want: `{"simulations":[{"a":1},{"b":2}],"pagination":{"count":2,"hasMore":true,"nextCursor":"abc-_"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			list := NewList(test.key)
			list.Body = append(list.Body, test.rows...)
			list.Count, list.NextCursor = test.count, test.cursor
			if err := list.Reply(w); err != nil {
				t.Fatal(err)
			}
			if got := w.Body.String(); got != test.want {
				t.Errorf("body %s\nwant %s", got, test.want)
			}
			if got := w.Header().Get("Content-Length"); got != strconv.Itoa(len(test.want)) {
				t.Errorf("length %s, want %d", got, len(test.want))
			}
		})
	}
}

// TestListsDoNotShareMemory: a page that is being written is not overwritten by
// the next one.
func TestListsDoNotShareMemory(t *testing.T) {
	t.Parallel()
	first, second := NewList("a"), NewList("b")
	first.Body = append(first.Body, "1"...)
	second.Body = append(second.Body, "2"...)
	for list, want := range map[*List]string{first: `{"a":[1]`, second: `{"b":[2]`} {
		w := httptest.NewRecorder()
		if err := list.Reply(w); err != nil {
			t.Fatal(err)
		}
		if got := w.Body.String(); !strings.HasPrefix(got, want) {
			t.Errorf("body %s, want it to begin with %s", got, want)
		}
		if list.Body != nil {
			t.Error("an answered list keeps its memory")
		}
	}
}
