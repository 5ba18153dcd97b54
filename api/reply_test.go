package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// recorded counts the writes of a response.
type recorded struct {
	*httptest.ResponseRecorder

	writes int
}

func (r *recorded) Write(b []byte) (int, error) {
	r.writes++
	return r.ResponseRecorder.Write(b)
}

// TestSend sends short and long responses one after the other: each has its length, is
// written in one write, and has nothing of the one before it.
func TestSend(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 2 * maxKept, 5000, 0, 1} {
		text := strings.Repeat("<", size)
		w := &recorded{ResponseRecorder: httptest.NewRecorder()}
		if err := send(w, http.StatusCreated, text, func(h http.Header) { h.Set("ETag", `"1"`) }); err != nil {
			t.Fatal(err)
		}
		want := `"` + strings.Repeat(`\u003c`, size) + `"` + "\n"
		if h := w.Header(); w.Code != http.StatusCreated || w.writes != 1 || h.Get("Content-Type") != "application/json" ||
			h.Get("ETag") != `"1"` || h.Get("Content-Length") != strconv.Itoa(len(want)) || w.Body.String() != want {
			t.Errorf("size %d: status %d in %d writes with %v and %d bytes", size, w.Code, w.writes, h, w.Body.Len())
		}
	}
}

type unencodable struct{}

func (unencodable) MarshalJSON() ([]byte, error) { return nil, errors.New("it cannot") }

func TestSendWritesNothingThatItCannotEncode(t *testing.T) {
	t.Parallel()
	w := &recorded{ResponseRecorder: httptest.NewRecorder()}
	if err := send(w, http.StatusOK, []any{"begun", unencodable{}}, nil); err == nil || w.writes > 0 || len(w.Header()) > 0 {
		t.Errorf("error %v after %d writes with %v", err, w.writes, w.Header())
	}
	w = &recorded{ResponseRecorder: httptest.NewRecorder()}
	if err := send(w, http.StatusOK, 1, nil); err != nil || w.Body.String() != "1\n" {
		t.Errorf("the next response: %v, %q", err, w.Body)
	}
}
