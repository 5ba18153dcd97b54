package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
)

// List is a page of a list. The read model stores its rows as JSON. A page is
// answered once.
type List struct {
	Body       []byte // begins with what NewList put there; the rows are appended, with commas between them
	Count      int    // of the rows
	NextCursor string // empty on the last page
}

// bodies keeps the memory of answered pages. A page has tens of kilobytes, and
// allocating them for every request makes the garbage collector run all the time.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// maxPooled is the capacity up to which memory is kept.
const maxPooled = 256 << 10

// NewList returns an empty page whose array has the name, such as simulations.
func NewList(key string) *List {
	body := (*bodies.Get().(*[]byte))[:0]
	body = append(body, `{"`...)
	body = append(body, key...)
	return &List{Body: append(body, `":[`...)}
}

// pagination is the JSON object of completions.md section 1.4.
type pagination struct {
	Count      int    `json:"count"`
	HasMore    bool   `json:"hasMore"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// Reply writes 200 with {"<key>":[rows],"pagination":{…}}. The list cannot be
// used afterwards.
func (l *List) Reply(w http.ResponseWriter) error {
	tail, err := json.Marshal(pagination{Count: l.Count, HasMore: l.NextCursor != "", NextCursor: l.NextCursor})
	if err != nil {
		return fmt.Errorf("encode pagination: %w", err)
	}
	body := append(l.Body, `],"pagination":`...)
	body = append(body, tail...)
	body = append(body, '}')
	l.Body = nil

	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, err = w.Write(body)
	if cap(body) <= maxPooled {
		bodies.Put(&body)
	}
	return err
}
