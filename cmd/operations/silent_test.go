package operations

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"netsim/infra/web"
)

// A client is told only that the log does not answer; the service's own log has the cause,
// once.
func TestTheCauseOfASilentLogIsLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	web.Errors{Log: slog.New(slog.NewTextHandler(&out, nil))}.Fail(w, r, silent(t.Context(), errors.New("no broker is there")))
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "no broker") {
		t.Errorf("got %d %s, want 503 without the cause", w.Code, w.Body)
	}
	if got := strings.Count(out.String(), "no broker is there"); got != 1 || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("the log is\n%swant one line, with the cause", &out)
	}
}
