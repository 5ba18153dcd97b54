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

// maxKept is the largest capacity, in bytes, of a buffer that is used again.
const maxKept = 64 << 10

// buffers has the buffers in which responses are encoded.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }} //nolint:gochecknoglobals // all responses share the pool

// send writes a JSON response with its length, in one write. headers, unless nil, sets
// further headers. If body cannot be encoded, send writes nothing.
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

// parts is a body that says what is written at once.
type parts interface {
	// NextPart returns the next part, and io.EOF after the last one.
	NextPart() ([]byte, error)
}

// nextPart returns the function that reads the next part of a body.
func nextPart(body io.Reader) func() ([]byte, error) {
	if b, ok := body.(parts); ok {
		return b.NextPart
	}
	part := make([]byte, 4096)
	return func() ([]byte, error) {
		n, err := body.Read(part)
		return part[:n], err
	}
}

// stream copies body to the response, and flushes after each read or part. It closes
// body.
func stream(w http.ResponseWriter, status int, contentType string, body io.Reader) error {
	if c, ok := body.(io.Closer); ok {
		defer c.Close() //nolint:errcheck // it was only read
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	controller := http.NewResponseController(w)
	next := nextPart(body)
	for {
		part, err := next()
		if len(part) > 0 {
			if _, err := w.Write(part); err != nil {
				return err
			}
			if err := controller.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return err
			}
		}
		if err == io.EOF { //nolint:errorlint // an io.Reader returns io.EOF itself
			return nil
		}
		if err != nil {
			return err
		}
	}
}
