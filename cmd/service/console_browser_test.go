package service_test

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
)

// router is the router in front of a service, as a browser sees it: with or without TLS, and
// at a prefix that it removes. The service gets another host than the browser asked for.
type router struct {
	*httptest.Server
	console string // the URL below which browsers find the service
	to      atomic.Pointer[url.URL]
}

func newRouter(t *testing.T, secure bool, prefix string) *router {
	t.Helper()
	r := &router{}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Path = strings.TrimPrefix(p.In.URL.Path, prefix)
		p.SetURL(r.to.Load())
	}}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		if !strings.HasPrefix(in.URL.Path, prefix+"/") {
			http.Error(w, "not below the prefix", http.StatusTeapot)
			return
		}
		proxy.ServeHTTP(w, in)
	}))
	if secure {
		r.StartTLS()
	} else {
		r.Start()
	}
	t.Cleanup(r.Close)
	r.console = r.URL + prefix
	return r
}

// send makes the router use a process of the service.
func (r *router) send(t *testing.T, p *servicetest.Program) {
	t.Helper()
	to, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	r.to.Store(to)
}

// withConsole are the settings of a console behind the router.
func (r *router) withConsole(c *settings.Config) {
	c.ConsoleURL, c.ConsoleClient = r.console, "netsim-console"
}

// startConsole starts a service with a console behind a router of its own.
func startConsole(t *testing.T, options ...func(*settings.Config)) (*router, *servicetest.Program) {
	t.Helper()
	r := newRouter(t, false, "")
	p := servicetest.Start(t, append([]func(*settings.Config){r.withConsole}, options...)...)
	r.send(t, p)
	return r, p
}

// browser is a client with cookies that follows no redirects by itself.
type browser struct {
	t       *testing.T
	http    *http.Client
	console string // URL
}

func (r *router) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := *r.Client()
	client.Jar = jar
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &browser{t: t, http: &client, console: r.console}
}

// page is what a browser gets.
type page struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// do sends a request as a browser does. A path that begins with / is below the URL of the
// service. The headers are pairs of names and values.
func (b *browser) do(method, at string, body io.Reader, headers ...string) page {
	b.t.Helper()
	if strings.HasPrefix(at, "/") {
		at = b.console + at
	}
	request, err := http.NewRequestWithContext(b.t.Context(), method, at, body)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := b.http.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{b.t, answer.StatusCode, answer.Header, text}
}

func (b *browser) get(at string, headers ...string) page {
	b.t.Helper()
	return b.do(http.MethodGet, at, nil, headers...)
}

// want fails the test unless the answer has the status.
func (p page) want(status int) page {
	p.t.Helper()
	if p.status != status {
		p.t.Fatalf("status %d, want %d: %.500s", p.status, status, p.body)
	}
	return p
}

// refused fails the test unless the answer is the error, and returns its message.
func (p page) refused(status int, code string) string {
	p.t.Helper()
	p.want(status)
	var e struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(p.body, &e); err != nil || e.Error.Code != code {
		p.t.Fatalf("code %q, want %q: %v %s", e.Error.Code, code, err, p.body)
	}
	return e.Error.Message
}

// to returns where the answer sends the browser.
func (p page) to() string {
	p.t.Helper()
	return p.want(http.StatusSeeOther).header.Get("Location")
}

func (p page) object() map[string]any {
	p.t.Helper()
	var m map[string]any
	if err := json.Unmarshal(p.body, &m); err != nil {
		p.t.Fatalf("%v: %s", err, p.body)
	}
	return m
}

// begin begins a login and returns the URL of the issuer's page.
func (b *browser) begin(next string) string {
	b.t.Helper()
	at := "/console/login"
	if next != "" {
		at += "?next=" + url.QueryEscape(next)
	}
	return b.get(at).to()
}

// choose fills in the form of the issuer's page and returns where it sends the browser: the
// callback with a code. The fields replace those of the form.
func (b *browser) choose(at string, fields url.Values) string {
	b.t.Helper()
	shown := b.get(at).want(http.StatusOK)
	form := url.Values{}
	_, last, _ := bytes.Cut(shown.body, []byte("<fieldset>"))
	before := shown.body[:len(shown.body)-len(last)]
	fixed := before[bytes.LastIndex(before, []byte("<form")):]
	for _, field := range regexp.MustCompile(`name="([^"]*)" value="([^"]*)"`).FindAllSubmatch(fixed, -1) {
		form.Set(string(field[1]), html.UnescapeString(string(field[2])))
	}
	for name, values := range fields {
		form[name] = values
	}
	issuer, err := url.Parse(at)
	if err != nil {
		b.t.Fatal(err)
	}
	action := issuer.Scheme + "://" + issuer.Host + issuer.Path
	return b.do(http.MethodPost, action, strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded").to()
}

// as returns the fields of a user of the account.
func as(user, account string) url.Values { return url.Values{"user": {user}, "account": {account}} }

// login logs in, and returns where the console sends the browser.
func (b *browser) login(next string, fields url.Values) string {
	b.t.Helper()
	return b.get(b.choose(b.begin(next), fields)).to()
}

// session returns the status and the body of the session operation.
func (b *browser) session() page {
	b.t.Helper()
	return b.get("/console/session")
}

// cookie returns the cookie of the session, nil if the browser has none.
func (b *browser) cookie() *http.Cookie {
	b.t.Helper()
	at, err := url.Parse(b.console + "/console/")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.http.Jar.Cookies(at) {
		if !strings.Contains(c.Name, "-login-") {
			return c
		}
	}
	return nil
}
