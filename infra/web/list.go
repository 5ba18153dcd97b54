package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// List is a page of a list. The read model stores its rows as JSON.
type List struct {
	Key        string // name of the array, such as simulations
	Rows       [][]byte
	NextCursor string // empty on the last page
}

// pagination is the JSON object of completions.md section 1.4.
type pagination struct {
	Count      int    `json:"count"`
	HasMore    bool   `json:"hasMore"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// Reply writes 200 with {"<key>":[rows],"pagination":{…}}. It copies the rows
// without parsing them.
func (l List) Reply(w http.ResponseWriter) error {
	tail, err := json.Marshal(pagination{Count: len(l.Rows), HasMore: l.NextCursor != "", NextCursor: l.NextCursor})
	if err != nil {
		return fmt.Errorf("encode pagination: %w", err)
	}
	size := len(`{"":[],"pagination":}`) + len(l.Key) + len(tail) + len(l.Rows)
	for _, row := range l.Rows {
		size += len(row)
	}
	body := make([]byte, 0, size)
	body = append(body, `{"`...)
	body = append(body, l.Key...)
	body = append(body, `":[`...)
	for i, row := range l.Rows {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, row...)
	}
	body = append(body, `],"pagination":`...)
	body = append(body, tail...)
	body = append(body, '}')

	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, err = w.Write(body)
	return err
}
