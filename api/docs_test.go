package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"netsim/api"
)

func TestDocsServeThemselvesAndTheContract(t *testing.T) {
	t.Parallel()
	cases := []struct {
		path, contentType, part string
	}{
		{"/docs", "text/html; charset=utf-8", `<script src="/docs/docs.js"`},
		{"/docs/", "text/html; charset=utf-8", `<script src="/docs/docs.js"`},
		{"/docs/docs.js", "text/javascript; charset=utf-8", "/openapi.json"},
		{"/docs/docs.css", "text/css; charset=utf-8", "color-scheme"},
		{"/openapi.yaml", "application/yaml", "openapi: 3.1.1"},
		{"/openapi.json", "application/json", `{"openapi":"3.1.1","info":`},
	}
	for _, c := range cases {
		got := docs(t, c.path, "")
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != c.contentType || !strings.Contains(got.Body.String(), c.part) {
			t.Errorf("%s: got %d with the headers %s", c.path, got.Code, got.Header())
		}
		if policy := got.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", c.path, policy)
		}
		if again := docs(t, c.path, got.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s with its tag: %d", c.path, again.Code)
		}
	}
	if got := docs(t, "/docs/else", ""); got.Code != http.StatusNotFound {
		t.Errorf("/docs/else: %d", got.Code)
	}
}

// The page has no inline scripts or styles and loads nothing from other origins, so it
// works offline and under its content security policy.
func TestDocsPageIsSelfContained(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/docs", "/docs/docs.js", "/docs/docs.css"} {
		text := docs(t, path, "").Body.String()
		if found := regexp.MustCompile(`https?://|<style|style="| on[a-z]+="|@import`).FindString(text); found != "" {
			t.Errorf("%s contains %s", path, found)
		}
	}
}

func TestDocumentIsTheSameInJSON(t *testing.T) {
	t.Parallel()
	var fromYAML, fromJSON any
	if err := yaml.Unmarshal(api.Document(), &fromYAML); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(docs(t, "/openapi.json", "").Body.Bytes(), &fromJSON); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, fromJSON); diff != "" {
		t.Errorf("(-yaml +json):\n%s", diff)
	}
}

func docs(t *testing.T, path, etag string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	w := httptest.NewRecorder()
	api.Docs().ServeHTTP(w, r)
	return w
}
