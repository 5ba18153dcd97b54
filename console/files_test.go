package console_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"netsim/console"
)

const index = `<html data-base="./"><link href="./assets/a.css"><script src="./assets/main.js"></script>`

// built returns built files, changed by more. A nil file is removed.
func built(more fstest.MapFS) fstest.MapFS {
	all := fstest.MapFS{
		"index.html": {Data: []byte(index)}, "assets/main.js": {Data: []byte(strings.Repeat("let x = 1;\n", 100))}, "assets/a.css": {Data: []byte("p{}")},
	}
	for name, f := range more {
		all[name] = f
		if f == nil {
			delete(all, name)
		}
	}
	return all
}

// indexOf returns the page and the digest in it.
func indexOf(t *testing.T, f *console.Files) (page, digest string) {
	t.Helper()
	w := httptest.NewRecorder()
	f.Index(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/", nil))
	found := regexp.MustCompile(`assets/([0-9a-f]{16})/main\.js`).FindStringSubmatch(w.Body.String())
	if found == nil || w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-cache" {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	return w.Body.String(), found[1]
}

func asset(t *testing.T, f *console.Files, digest, name string, headers ...string) (*httptest.ResponseRecorder, bool) {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return w, f.Asset(w, r, digest, name)
}

// TestFiles: the page names its files below the digest of all of them, at the prefix of the
// browser. Files are found by the digest of their release only.
func TestFiles(t *testing.T) {
	t.Parallel()
	f, err := console.Load(built(nil), "/a/b")
	if err != nil {
		t.Fatal(err)
	}
	page, digest := indexOf(t, f)
	if want := `<html data-base="/a/b/console/"><link href="/a/b/console/assets/` + digest + `/a.css"><script src="/a/b/console/assets/` + digest + `/main.js"></script>`; page != want {
		t.Errorf("the page is %s, want %s", page, want)
	}
	plain, _ := asset(t, f, digest, "main.js")
	if plain.Code != http.StatusOK || plain.Header().Get("Content-Type") != "text/javascript; charset=utf-8" || plain.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" || plain.Header().Get("Content-Encoding") != "" {
		t.Errorf("%d %v", plain.Code, plain.Header())
	}
	for accept, compressed := range map[string]bool{"gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false, "br": false, "": false} {
		small, _ := asset(t, f, digest, "main.js", "Accept-Encoding", accept)
		var text io.Reader = small.Body
		if (small.Header().Get("Content-Encoding") == "gzip") != compressed {
			t.Errorf("Accept-Encoding %q: %v", accept, small.Header())
			continue
		}
		if compressed {
			if text, err = gzip.NewReader(small.Body); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := io.ReadAll(text); err != nil || !bytes.Equal(got, plain.Body.Bytes()) {
			t.Errorf("Accept-Encoding %q: %s, %v", accept, got, err)
		}
		if same := small.Header().Get("ETag") == plain.Header().Get("ETag"); same == compressed {
			t.Errorf("Accept-Encoding %q: the tag is %s, and %s without", accept, small.Header().Get("ETag"), plain.Header().Get("ETag"))
		}
	}
	if tiny, _ := asset(t, f, digest, "a.css", "Accept-Encoding", "gzip"); tiny.Header().Get("Content-Encoding") != "" || tiny.Header().Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("a file that gzip does not make smaller has the headers %v", tiny.Header())
	}
	if again, _ := asset(t, f, digest, "main.js", "If-None-Match", plain.Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("status %d, want 304", again.Code)
	}
	for _, wrong := range [][2]string{{strings.Repeat("0", 16), "main.js"}, {"", "main.js"}, {digest, ""}, {digest, "index.html"}, {digest, "../index.html"}} {
		if w, found := asset(t, f, wrong[0], wrong[1]); found || w.Body.Len() > 0 {
			t.Errorf("%q is found", wrong)
		}
	}
	for name, changed := range map[string]fstest.MapFS{
		"another page": {"index.html": {Data: []byte(index + " ")}}, "another script": {"assets/main.js": {Data: []byte("let y")}},
		"one file more": {"assets/b.css": {Data: nil}},
	} {
		other, err := console.Load(built(changed), "/a/b")
		if err != nil {
			t.Fatal(err)
		}
		if _, d := indexOf(t, other); d == digest {
			t.Errorf("%s has the same digest", name)
		}
	}
}

// TestFilesThatCannotBeServed: what a build made wrong is refused when the service starts.
func TestFilesThatCannotBeServed(t *testing.T) {
	t.Parallel()
	for want, changed := range map[string]fstest.MapFS{
		"not exactly one data-base": {"index.html": {Data: []byte("<html>")}},
		"not exactly one":           {"index.html": nil},
		"unknown type":              {"assets/main.exe": {Data: []byte("x")}},
		"neither index.html nor":    {"other.html": {Data: []byte("x")}},
		"nor in the folder assets":  {"assets/deeper/x.js": {Data: []byte("x")}},
	} {
		if _, err := console.Load(built(changed), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", changed, err, want)
		}
	}
	f, err := console.Load(console.Dist(), "")
	if err != nil {
		t.Fatalf("the built files of this release: %v", err)
	}
	page, _ := indexOf(t, f)
	for _, inline := range []string{"<style", " style=", "<script>", " onclick=", "javascript:"} {
		if strings.Contains(page, inline) {
			t.Errorf("the page has %s, which its policy forbids", inline)
		}
	}
}

// BenchmarkLoad is what each start takes. No file is compressed before the first request.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := console.Load(console.Dist(), ""); err != nil {
			b.Fatal(err)
		}
	}
}
