package web

import (
	"net/http/httptest"
	"strconv"
	"testing"
)

func TestListReply(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		list List
		want string
	}{
		"empty": {List{Key: "items"}, `{"items":[],"pagination":{"count":0,"hasMore":false}}`},
		"last page": {
			List{Key: "logs", Rows: [][]byte{[]byte(`{"a":1}`)}},
			`{"logs":[{"a":1}],"pagination":{"count":1,"hasMore":false}}`,
		},
		"more": {
			List{Key: "simulations", Rows: [][]byte{[]byte(`{"a":1}`), []byte(`{"b":2}`)}, NextCursor: "abc-_"},
			`{"simulations":[{"a":1},{"b":2}],"pagination":{"count":2,"hasMore":true,"nextCursor":"abc-_"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			if err := test.list.Reply(w); err != nil {
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
