package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// maxKept is the capacity up to which a buffer is used again, in bytes.
const maxKept = 64 << 10

// buffers are those in which responses are encoded.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }} //nolint:gochecknoglobals // a pool is one by its nature

// send writes a response of JSON, with its length and in one write. headers, unless
// nil, sets further headers. On an error of the encoding nothing has been written.
func send(w http.ResponseWriter, status int, body any, headers func(http.Header)) error {
	text, _ := buffers.Get().(*bytes.Buffer)
	defer func() {
		if text.Cap() <= maxKept {
			text.Reset()
			buffers.Put(text)
		}
	}()
	if err := json.NewEncoder(text).Encode(body); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(text.Len()))
	if headers != nil {
		headers(h)
	}
	w.WriteHeader(status)
	_, err := w.Write(text.Bytes())
	return err
}

// stream copies body to the response, and sends each part as it comes. It closes
// body.
func stream(w http.ResponseWriter, status int, contentType string, body io.Reader) error {
	if c, ok := body.(io.Closer); ok {
		defer c.Close() //nolint:errcheck // it was only read
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	controller := http.NewResponseController(w)
	part := make([]byte, 4096)
	for {
		n, err := body.Read(part)
		if n > 0 {
			if _, err := w.Write(part[:n]); err != nil {
				return err
			}
			if err := controller.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return err
			}
		}
		if err == io.EOF { //nolint:errorlint // a reader returns it as it is
			return nil
		}
		if err != nil {
			return err
		}
	}
}
