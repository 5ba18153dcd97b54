package objects_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/infra/objects"
)

// A small object is put with a request of its own, whose signature the store accepts,
// whatever its key. The call is observed once, as one of the SDK.
func TestDirectPut(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var agents, observed []string
	s := newStore(t, func(c *objects.Config) {
		c.Wrap = func(real *http.Transport) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				if r.Method == http.MethodPut {
					agents = append(agents, r.UserAgent())
				}
				return real.RoundTrip(r)
			})
		}
		c.Observe = func(operation string, _ time.Duration, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil && operation == "PutObject" {
				observed = append(observed, operation)
			}
		}
	})
	for _, key := range []string{"direct/plain.csv", "direct/with space+plus&%25?#é/a=b~c.csv", "direct//two", "direct/empty"} {
		content := strings.TrimSuffix("of "+key, "of direct/empty")
		put(t, s, key, content)
		body, info, err := s.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		if body.Close(); err != nil || string(got) != content || info.ContentType != "text/plain" {
			t.Errorf("%s has %q of %s, %v; want %q of text/plain", key, got, info.ContentType, err, content)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(agents) != 4 || strings.Contains(strings.Join(agents, " "), "aws-sdk") || len(observed) != 4 {
		t.Errorf("requests by %q, observed %v; want four, none of the SDK, each observed once", agents, observed)
	}
}

// Whatever answer but 200 a direct request gets, the SDK makes the call, and then makes all
// calls for a while. A redirect is not followed.
func TestAFailedDirectPut(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]http.HandlerFunc{
		"refused": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) },
		"redirected": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
		},
		"accepted":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) },
		"disconnected": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var requests []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				by := "direct"
				if strings.Contains(r.UserAgent(), "aws-sdk") {
					by = "SDK"
				}
				mu.Lock()
				requests = append(requests, r.Method+" "+r.URL.Path+" "+by)
				mu.Unlock()
				if by == "direct" && r.Method == http.MethodPut {
					refuse(w, r)
				}
			}))
			t.Cleanup(server.Close)
			s := objects.New(objects.Config{Endpoint: server.URL, Region: "r", Bucket: "b", AccessKey: "a", SecretKey: "k"})
			put(t, s, "1", "content")
			put(t, s, "2", "content")
			mu.Lock()
			defer mu.Unlock()
			if diff := cmp.Diff([]string{"PUT /b/1 direct", "PUT /b/1 SDK", "PUT /b/2 SDK"}, requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
