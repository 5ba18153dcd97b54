package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// sender sends signed messages to addresses that are allowed. A receiver is not trusted:
// its name is resolved for each connection, all its addresses must be allowed, and the
// connection goes to one of these. No redirect is followed, no proxy is used, and no
// cookie is kept.
type sender struct {
	secure, plain *http.Client
	networks      Networks
	resolve       func(ctx context.Context, host string) ([]netip.Addr, error)
	timeout       time.Duration // of an attempt, from the name to the end of the answer
	now           func() time.Time
}

const (
	mediaType  = "application/cloudevents+json"
	userAgent  = "netsim-webhooks/1.0"
	maxHeader  = 16 << 10 // bytes of an answer's header
	maxBody    = 16 << 10 // bytes of an answer's body that are read
	maxExcerpt = 256      // bytes of it that are shown
	maxTries   = 4        // addresses of a name that are tried
	dialing    = 5 * time.Second
	idle       = 30 * time.Second // for which a connection is kept
)

func newSender(c *Config) *sender {
	s := &sender{networks: c.Networks, resolve: c.Resolve, timeout: c.Limits.Timeout, now: c.Now}
	client := func(plain bool) *http.Client {
		return &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				DialContext:     func(ctx context.Context, _, address string) (net.Conn, error) { return s.dial(ctx, address, plain) },
				TLSClientConfig: c.TLS, TLSHandshakeTimeout: dialing, ForceAttemptHTTP2: true,
				MaxIdleConns: c.Limits.PerProcess, MaxIdleConnsPerHost: c.Limits.PerWebhook, IdleConnTimeout: idle,
				MaxResponseHeaderBytes: maxHeader, DisableCompression: true,
			},
		}
	}
	s.secure, s.plain = client(false), client(true)
	return s
}

// answer is what came of a request.
type answer struct {
	status     int    // 0 for none
	refusal    string // why it is no success, "" for one
	excerpt    string
	retryAfter time.Duration
	duration   time.Duration
}

// send sends a message and reads the answer.
func (s *sender) send(ctx context.Context, url, id string, body []byte, keys [][]byte) (a answer) {
	began := s.now()
	defer func() { a.duration = max(s.now().Sub(began), 0) }()
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	shown := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		remote, err := netip.ParseAddrPort(got.Conn.RemoteAddr().String())
		shown = err == nil && public(remote.Addr().Unmap())
	}})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil || CheckURL(url, s.networks) != nil {
		return answer{refusal: errAddress.Error()}
	}
	request.Header.Set("Content-Type", mediaType)
	request.Header.Set("User-Agent", userAgent)
	setSignature(request.Header, id, began, body, keys)
	client := s.secure
	if request.URL.Scheme == "http" {
		client = s.plain
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{refusal: s.explain(err)}
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	a = answer{status: response.StatusCode, retryAfter: retryAfter(response.Header, began)}
	switch {
	case a.status/100 == 3:
		a.refusal = fmt.Sprintf("the answer is a redirect (%d), which is not followed", a.status)
	case a.status/100 != 2:
		a.refusal = fmt.Sprintf("the status of the answer is %d", a.status)
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxBody)) // the status counts, whatever becomes of the body
	if shown {
		a.excerpt = printable(string(text))
	}
	return a
}

// errAddress refuses a receiver. It says nothing of its name or its addresses, not even
// whether the name has any.
var errAddress = errors.New("the receiver has no public address")

// dial connects to an address of a host if all its addresses are allowed.
func (s *sender) dial(ctx context.Context, address string, plain bool) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialing)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errAddress
	}
	all, err := s.lookup(ctx, host)
	if err != nil || len(all) == 0 {
		return nil, errAddress
	}
	for _, at := range all {
		if !s.networks.admits(at, plain) {
			return nil, errAddress
		}
	}
	var conn net.Conn
	for _, at := range all[:min(len(all), maxTries)] {
		var dialer net.Dialer
		if conn, err = dialer.DialContext(ctx, "tcp", net.JoinHostPort(at.Unmap().String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

func (s *sender) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if at, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{at}, nil
	}
	return s.resolve(ctx, host)
}

// explain says why there is no answer, without what only this machine should know.
func (s *sender) explain(err error) string {
	certificate, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, errAddress):
		return errAddress.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "there was no answer in time"
	case badCertificate:
		return printable("the certificate of the receiver is not valid: " + certificate.Err.Error())
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, new(tls.RecordHeaderError)), errors.As(err, new(tls.AlertError)):
		return "the receiver does not speak TLS as it should"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the receiver refused the connection"
	}
	return "the connection failed"
}

// printable returns the begin of a text with spaces for what cannot be shown.
func printable(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxExcerpt)], "")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text))
}
