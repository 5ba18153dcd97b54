package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Endpoint is an HTTP server that the service calls.
type Endpoint struct {
	Component string
	URL       string
	Roots     *x509.CertPool   // authorities to trust; nil trusts those of the system
	Now       func() time.Time // this machine's clock
}

// certificateWarn is how long before its end a certificate is reported.
const certificateWarn = 21 * 24 * time.Hour

// Certificate returns the check of the server's certificate, or none for plain HTTP.
func (e Endpoint) Certificate() []Check {
	u, err := url.Parse(e.URL)
	if err != nil || u.Scheme != "https" {
		return nil
	}
	return []Check{{Component: e.Component, Name: "certificate", Run: func(ctx context.Context) Result {
		port := u.Port()
		if port == "" {
			port = "443"
		}
		// The certificate is verified below, so that a wrong one can be described.
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}} //nolint:gosec // nothing is sent
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
		if err != nil {
			return Failure("check the address, and that the server speaks TLS", "no TLS handshake with %s: %v", u.Host, err)
		}
		defer conn.Close() //nolint:errcheck // nothing was sent
		secure, is := conn.(*tls.Conn)
		if !is {
			return Failure("check that the server speaks TLS", "%s does not speak TLS", u.Host)
		}
		return checkCertificates(secure.ConnectionState().PeerCertificates, u.Hostname(), e.Roots, e.Now())
	}}}
}

// checkCertificates verifies the chain of a server, the server's certificate first.
func checkCertificates(chain []*x509.Certificate, host string, roots *x509.CertPool, now time.Time) Result {
	if len(chain) == 0 {
		return Failure("install a certificate", "the server of %s shows no certificate", host)
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	leaf := chain[0]
	_, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: between, CurrentTime: now})
	until := leaf.NotAfter.UTC().Format(time.RFC3339)
	if invalid, is := errors.AsType[x509.CertificateInvalidError](err); is && invalid.Reason == x509.Expired {
		return Failure("renew the certificate, or set this machine's clock right",
			"the certificate of %s is valid from %s to %s and not now", host, leaf.NotBefore.UTC().Format(time.RFC3339), until)
	}
	if _, is := errors.AsType[x509.UnknownAuthorityError](err); is {
		return Failure("let this machine trust the authority, or use a certificate of one that it trusts",
			"the certificate of %s is signed by %q, which is not trusted", host, leaf.Issuer)
	}
	if err != nil {
		return Failure("install a certificate for this name", "the certificate of %s is refused: %v", host, err)
	}
	return expiry(leaf.NotAfter, now)
}

// expiry reports when a valid certificate ends.
func expiry(until, now time.Time) Result {
	left := until.Sub(now)
	text := fmt.Sprintf("valid until %s", until.UTC().Format(time.RFC3339))
	switch {
	case left <= 0:
		return Failure("renew the certificate", "it expired at %s", until.UTC().Format(time.RFC3339))
	case left < certificateWarn:
		return Warning("renew the certificate", "%s, %d days", text, int(left.Hours()/24))
	}
	return Good("%s", text)
}

// Clock returns the check of the server's clock, by the header Date of any response.
func (e Endpoint) Clock() Check {
	return Check{Component: e.Component, Name: "clock", Run: func(ctx context.Context) Result {
		request, err := http.NewRequestWithContext(ctx, http.MethodHead, e.URL, nil)
		if err != nil {
			return Failure("correct the URL", "%v", err)
		}
		began, sent := time.Now(), e.Now()
		response, err := e.client().Do(request)
		if err != nil {
			return Failure("see the other checks of this component", "no response: %v", err)
		}
		defer response.Body.Close() //nolint:errcheck // it is not read
		took := time.Since(began)
		at, err := http.ParseTime(response.Header.Get("Date"))
		if err != nil {
			return Good("its responses have no date")
		}
		const precision = time.Second // of the header
		middle := at.Add(precision / 2)
		return compareClocks(middle.Sub(sent.Add(took/2)), took/2+precision/2)
	}}
}

// client returns a client for one request that follows no redirect.
func (e Endpoint) client() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: e.Roots, MinVersion: tls.VersionTLS12}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// get calls the endpoint below its URL and returns the status and at most 1 MiB of the
// body.
func (e Endpoint) get(ctx context.Context, target string, prepare func(*http.Request)) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return 0, nil, err
	}
	if prepare != nil {
		prepare(request)
	}
	response, err := e.client().Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, err := readAtMost(response.Body, 1<<20)
	return response.StatusCode, text, err
}

// Reachable returns the check that the server answers. prepare, when set, adds
// credentials to the request; then only a status of success is right. Without it any
// response is: a collector of traces, for example, has nothing to get.
func (e Endpoint) Reachable(prepare func(*http.Request)) Check {
	return Check{Component: e.Component, Name: "reachable", Run: func(ctx context.Context) Result {
		status, _, err := e.get(ctx, e.URL, prepare)
		switch {
		case err != nil:
			return Failure("start it, or correct its URL in the settings", "no answer from %s: %v", e.URL, err)
		case prepare != nil && (status == http.StatusUnauthorized || status == http.StatusForbidden):
			return Failure("correct its user and secret in the settings", "%s refuses the credentials with status %d", e.URL, status)
		case prepare != nil && status/100 != 2, status >= http.StatusInternalServerError:
			return Failure("look at its log, or correct its URL in the settings", "%s answers with status %d", e.URL, status)
		}
		return Good("%s answers", e.URL)
	}}
}
