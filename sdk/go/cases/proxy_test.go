package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// proxy returns the URL of a proxy in front of a service that answers every request with the
// body it was sent, and a link to a store at the same address.
func proxy(t *testing.T) (here, service string) {
	t.Helper()
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if r.URL.Path == "/link" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"downloadUrl":"http://%s/bucket/a%%2Fb?signature=1","url":"http://other.test/page"}`, r.Host)
			return
		}
		fmt.Fprintf(w, "%s %s %s", r.Host, r.URL, body)
	}))
	t.Cleanup(behind.Close)
	to, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(nil)
	at := &url.URL{Scheme: "http", Host: front.Listener.Addr().String()}
	front.Config.Handler = NewProxy(to, at)
	front.Start()
	t.Cleanup(front.Close)
	return at.String(), to.Host
}

// fresh opens a connection for each request: on one that was used before, net/http itself
// repeats a request with an Idempotency-Key.
var fresh = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func do(t *testing.T, method, url, body string) (status int, answer string, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", "k")
	response, err := fresh.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func TestFaults(t *testing.T) {
	t.Parallel()
	here, service := proxy(t)
	whole := service + " /x?q=1 hello"
	for _, test := range []struct {
		fault, answer string
		status        int
		cut           bool
	}{
		{`{"method":"POST","path":"^/x$","act":"cut-before"}`, "", 0, true},
		{`{"method":"POST","path":"^/x$","act":"cut-before","afterBytes":2}`, "", 0, true},
		{`{"method":"POST","path":"^/x$","act":"cut-after"}`, "", 0, true},
		{`{"method":"POST","path":"^/x$","act":"cut-after","afterBytes":3}`, whole[:3], 200, true},
		{`{"path":"^/x$","act":"status","status":503,"code":"C"}`, `{"error":{"code":"C","message":"the case asked for this status"}}` + "\n", 503, false},
		{`{"method":"GET","path":"^/x$","act":"cut-after"}`, whole, 200, false},
		{`{"path":"^/y$","act":"cut-after"}`, whole, 200, false},
	} {
		for _, reset := range []string{"/__case", "/__log"} {
			if _, _, err := do(t, http.MethodDelete, here+reset, ""); err != nil {
				t.Fatal(err)
			}
		}
		if status, answer, err := do(t, http.MethodPost, here+"/__case", test.fault); status != 204 {
			t.Fatalf("%d %s %v", status, answer, err)
		}
		status, answer, err := do(t, http.MethodPost, here+"/x?q=1", "hello")
		if status != test.status || answer != test.answer || (err != nil) != test.cut {
			t.Errorf("%s: %d %q %v", test.fault, status, answer, err)
		}
		if status, answer, err := do(t, http.MethodPost, here+"/x?q=1", "hello"); answer != whole {
			t.Errorf("%s, once more: %d %q %v", test.fault, status, answer, err)
		}
		_, log, _ := do(t, http.MethodGet, here+"/__log", "")
		var passed []Passed
		if err := json.Unmarshal([]byte(log), &passed); err != nil || len(passed) != 2 || passed[0].Key != "k" || passed[1].Status != 200 {
			t.Errorf("%s: the log is %s", test.fault, log)
		}
	}
}

func TestBadFaults(t *testing.T) {
	t.Parallel()
	here, _ := proxy(t)
	for _, fault := range []string{`{"act":"explode"}`, `{"act":"status","status":200}`, `{"act":"stall","path":"("}`, `{"act":"stall","often":1}`} {
		if status, answer, err := do(t, http.MethodPost, here+"/__case", fault); status != 400 {
			t.Errorf("%s: %d %s %v", fault, status, answer, err)
		}
	}
}

func TestLinksToTheStoreLeadThroughTheProxy(t *testing.T) {
	t.Parallel()
	here, service := proxy(t)
	_, answer, err := do(t, http.MethodGet, here+"/link", "")
	want := fmt.Sprintf(`{"downloadUrl":"%s/__store/%s/bucket/a%%2Fb?signature=1","url":"http://other.test/page"}`, here, service)
	if answer != want || err != nil {
		t.Fatalf("got  %s %v\nwant %s", answer, err, want)
	}
	if _, answer, _ = do(t, http.MethodPut, here+"/__store/"+service+"/bucket/a%2Fb?signature=1", "part"); answer != service+" /bucket/a%2Fb?signature=1 part" {
		t.Errorf("the store was asked for %s", answer)
	}
}

func TestDownCutsWhatIsOpen(t *testing.T) {
	t.Parallel()
	here, _ := proxy(t)
	for _, fault := range []string{`{"path":"^/open$","act":"stall","afterBytes":1}`, `{"path":"^/x$","act":"down","milliseconds":300}`} {
		if status, _, _ := do(t, http.MethodPost, here+"/__case", fault); status != 204 {
			t.Fatal(status)
		}
	}
	response, err := http.Get(here + "/open") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	begun := time.Now()
	if _, _, err := do(t, http.MethodPost, here+"/x", ""); err == nil {
		t.Error("the request that takes the service down was answered")
	}
	if _, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the open request ended with %v", err)
	}
	for {
		if _, _, err := do(t, http.MethodPost, here+"/x", ""); err == nil {
			break
		}
	}
	if took := time.Since(begun); took < 300*time.Millisecond {
		t.Errorf("the service was down for %s", took)
	}
}
