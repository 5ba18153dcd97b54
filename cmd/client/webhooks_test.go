package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	netsim "netsim/sdk/go"
)

// TestWebhooksListen: the receiver gets each event as a webhook sends it, signed with the
// secret, and what it answers is shown.
func TestWebhooksListen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const known = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	var mu sync.Mutex
	var got []error
	receiver := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = netsim.Unwrap(body, r.Header, known)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, err)
		if r.URL.Path == "/busy" {
			out.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(receiver.Close)
	args := []string{"webhooks", "listen", "--type", "netsim.simulation.completed.v1", "--since", "1h", "-n", "2", "--forward-to", receiver.URL}

	out := w.m.wants(append(args, "--secret", known, "--jq", `.stream + " " + (.status | tostring)`)...)
	if want := w.ids["first"] + " 200\n" + w.ids["second"] + " 200\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
	args[len(args)-1] += "/busy"
	out = w.m.wants(append(args, "--secret", known)...)
	if strings.Count(out, " 503 ") != 2 {
		t.Errorf("a receiver that is busy is shown as %q", out)
	}
	mu.Lock()
	defer mu.Unlock()
	if err := errors.Join(got...); len(got) != 4 || err != nil {
		t.Errorf("%d events came, want 4: %v", len(got), err)
	}

	// Without a secret there is one that is printed.
	w.m.wants(append(args[:len(args)-3:len(args)-3], "1", "--forward-to", "http://127.0.0.1:1/")...)
	if said := w.m.err.String(); !strings.Contains(said, "the secret is whsec_") {
		t.Errorf("on standard error is %q, want the secret", said)
	}
	w.m.fails(2, "--forward-to must be a URL", "webhooks", "listen", "--forward-to", "localhost")
	w.m.fails(2, "--secret must be", "webhooks", "listen", "--forward-to", receiver.URL, "--secret", "x")
}
