package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Passed is a request that has come to the proxy.
type Passed struct {
	Method           string `json:"method"`
	Path             string `json:"path"`
	Query            string `json:"query,omitempty"`
	Key              string `json:"key,omitempty"`              // Idempotency-Key
	ConsistencyToken string `json:"consistencyToken,omitempty"` // of the request
	LastEventID      string `json:"lastEventId,omitempty"`
	IfMatch          string `json:"ifMatch,omitempty"`
	Token            string `json:"token,omitempty"`  // 8 hexadecimal digits that tell bearer tokens apart
	Status           int    `json:"status,omitempty"` // of the service or the fault; absent if there was none
	Act              string `json:"act,omitempty"`    // of the fault
}

// Proxy mistreats requests on their way to a service. Make it with [NewProxy].
type Proxy struct {
	faults  faults
	forward *httputil.ReverseProxy

	mu   sync.Mutex
	log  []*Passed
	open map[*http.Request]context.CancelFunc
}

type (
	faultKey  struct{}
	passedKey struct{}
)

var errCut = errors.New("the case cuts this connection")

// NewProxy returns the proxy of a service. Clients reach it at here.
func NewProxy(service, here *url.URL) *Proxy {
	p := &Proxy{open: map[*http.Request]context.CancelFunc{}}
	p.forward = &httputil.ReverseProxy{
		FlushInterval: -1, // events pass at once
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			if at := store(r.In.URL); at != nil {
				r.Out.URL, r.Out.Host = at, at.Host
				return
			}
			r.SetURL(service)
			// Bodies are rewritten and counted as they are.
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(answer *http.Response) error {
			p.answered(answer.Request.Context().Value(passedKey{}).(*Passed), answer.StatusCode)
			if err := rewriteLinks(answer, here); err != nil {
				return err
			}
			f, _ := answer.Request.Context().Value(faultKey{}).(*Fault)
			if f == nil {
				return nil
			}
			switch f.Act {
			case "cut-after":
				if f.AfterBytes == 0 {
					return errCut
				}
				answer.Body = &limited{ReadCloser: answer.Body, left: f.AfterBytes, end: func() error { return errCut }}
			case "stall":
				ctx := answer.Request.Context()
				answer.Body = &limited{ReadCloser: answer.Body, left: f.AfterBytes, end: func() error { <-ctx.Done(); return errCut }}
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	return p
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/__case":
		p.faults.serve(w, r)
		return
	case "/__log":
		p.serveLog(w, r)
		return
	}
	f := p.faults.take(r)
	passed := p.pass(r, f)
	ctx, cancel := context.WithCancel(context.WithValue(context.WithValue(r.Context(), faultKey{}, f), passedKey{}, passed))
	defer cancel()
	if f != nil {
		switch f.Act {
		case "down":
			p.cutAll()
			panic(http.ErrAbortHandler)
		case "cut-before":
			if f.AfterBytes == 0 {
				panic(http.ErrAbortHandler)
			}
			r.Body = &limited{ReadCloser: r.Body, left: f.AfterBytes, end: func() error { return errCut }}
		case "status":
			_, _ = io.Copy(io.Discard, r.Body)
			p.answered(passed, f.Status)
			f.answer(w)
			return
		}
	}
	out := r.WithContext(ctx)
	p.opened(r, cancel)
	defer p.closed(r)
	p.forward.ServeHTTP(w, out)
}

func (p *Proxy) opened(r *http.Request, cancel context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[r] = cancel
}

func (p *Proxy) closed(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, r)
}

// cutAll ends every request that is being forwarded.
func (p *Proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cancel := range p.open {
		cancel()
	}
}

func (p *Proxy) pass(r *http.Request, f *Fault) *Passed {
	passed := &Passed{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Key: r.Header.Get("Idempotency-Key"), ConsistencyToken: r.Header.Get("Consistency-Token"),
		LastEventID: r.Header.Get("Last-Event-ID"), IfMatch: r.Header.Get("If-Match"),
	}
	if token := r.Header.Get("Authorization"); token != "" {
		sum := sha256.Sum256([]byte(token))
		passed.Token = hex.EncodeToString(sum[:4])
	}
	if f != nil {
		passed.Act = f.Act
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, passed)
	return passed
}

func (p *Proxy) answered(passed *Passed, status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	passed.Status = status
}

func (p *Proxy) serveLog(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.Method {
	case http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(append([]*Passed{}, p.log...))
	case http.MethodDelete:
		p.log = nil
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, "GET the log, or DELETE it", http.StatusMethodNotAllowed)
	}
}

// store returns the URL at the object store of one below /__store/, nil for any other.
func store(u *url.URL) *url.URL {
	at, ok := strings.CutPrefix(u.EscapedPath(), "/__store/")
	if !ok {
		return nil
	}
	link, err := url.Parse("http://" + at + "?" + u.RawQuery)
	if err != nil {
		return nil
	}
	return link
}

// link is a link in a JSON answer that the store signs: it has a query.
var link = regexp.MustCompile(`"(url|downloadUrl)":"http://([^/"]+)/([^"?]*\?)`)

// rewriteLinks leads the links to the object store through the proxy. The store's
// signature covers its own host, which store restores.
func rewriteLinks(answer *http.Response, here *url.URL) error {
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") || strings.HasPrefix(answer.Request.URL.Path, "/__store/") {
		return nil
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	body = link.ReplaceAll(body, []byte(`"$1":"`+here.String()+`/__store/$2/$3`))
	answer.Body = io.NopCloser(bytes.NewReader(body))
	answer.ContentLength = int64(len(body))
	answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// limited is a body that ends in its own way after so many bytes.
type limited struct {
	io.ReadCloser
	left int64
	end  func() error
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, l.end()
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
