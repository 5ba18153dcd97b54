// Package certs remembers when the TLS certificates that a process meets expire: those
// of its peers, and those with which it shows who it is. A metric reports them, so that
// an operator renews a certificate before connections fail.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"sync"
	"time"
)

// maxSeen bounds the certificates that are remembered. The names of peers come from the
// settings, so there are fewer, unless a peer has many servers.
const maxSeen = 1000

// Expiries has the expiry of the certificates of each peer. A peer is a part of the
// service's surroundings, such as kafka or issuer. The zero value is empty. It is safe
// for concurrent use; a nil *Expiries remembers nothing.
type Expiries struct {
	mu   sync.Mutex
	seen map[seenKey]time.Time
}

type seenKey struct{ peer, server string }

// Saw remembers the certificates that a server of the peer has shown in its last
// handshake, or that this process shows to it. The earliest expiry among them counts:
// one expired certificate breaks the chain.
func (e *Expiries) Saw(peer, server string, shown ...*x509.Certificate) {
	if e == nil || len(shown) == 0 {
		return
	}
	first := shown[0].NotAfter
	for _, c := range shown[1:] {
		if c.NotAfter.Before(first) {
			first = c.NotAfter
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen == nil {
		e.seen = map[seenKey]time.Time{}
	}
	key := seenKey{peer, server}
	if _, known := e.seen[key]; !known && len(e.seen) >= maxSeen {
		return
	}
	e.seen[key] = first
}

// SawError remembers the certificates that a handshake refused, such as expired ones.
// Other errors, and nil, change nothing.
func (e *Expiries) SawError(peer string, err error) {
	if refused, ok := errors.AsType[*tls.CertificateVerificationError](err); ok && len(refused.UnverifiedCertificates) > 0 {
		e.Saw(peer, serverOf(refused.UnverifiedCertificates[0]), refused.UnverifiedCertificates...)
	}
}

// serverOf names the server that shows a certificate, whether or not the handshake
// succeeds. A renewed certificate of the same server replaces the earlier one.
func serverOf(c *x509.Certificate) string {
	switch {
	case len(c.DNSNames) > 0:
		return c.DNSNames[0]
	case len(c.IPAddresses) > 0:
		return c.IPAddresses[0].String()
	}
	return c.Subject.String()
}

// Observe makes connections with these settings report the certificates of the peer. It
// changes c, which may be nil, and verifies nothing less than before. It reports the
// settings' own certificates at once.
func (e *Expiries) Observe(peer string, c *tls.Config) {
	if e == nil || c == nil {
		return
	}
	for i := range c.Certificates {
		e.sawOwn(peer, &c.Certificates[i])
	}
	verify := c.VerifyConnection
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) > 0 {
			e.Saw(peer, serverOf(state.PeerCertificates[0]), state.PeerCertificates...)
		}
		if verify != nil {
			return verify(state)
		}
		return nil
	}
}

// sawOwn remembers a certificate with which the process shows who it is.
func (e *Expiries) sawOwn(peer string, own *tls.Certificate) {
	leaf := own.Leaf
	if leaf == nil && len(own.Certificate) > 0 {
		leaf, _ = x509.ParseCertificate(own.Certificate[0]) //nolint:errcheck // one that cannot be read is refused by the handshake
	}
	if leaf != nil {
		e.Saw(peer, "own "+serverOf(leaf), leaf)
	}
}

// Transport returns a copy of an HTTP transport that reports the certificates of the
// peer, also those that it refuses.
func (e *Expiries) Transport(peer string, t *http.Transport) http.RoundTripper {
	if e == nil {
		return t
	}
	t = t.Clone()
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	t.ForceAttemptHTTP2 = true // net/http tries HTTP/2 by itself only without TLS settings of ours
	e.Observe(peer, t.TLSClientConfig)
	return observed{e, peer, t}
}

// observed is a transport that reports the certificates of refused handshakes.
type observed struct {
	expiries *Expiries
	peer     string
	next     *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (o observed) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(r)
	if err != nil {
		o.expiries.SawError(o.peer, err)
	}
	return response, err
}

// CloseIdleConnections closes the connections that no request uses.
func (o observed) CloseIdleConnections() { o.next.CloseIdleConnections() }

// Report returns, by peer, when the first of its certificates expires.
func (e *Expiries) Report() map[string]time.Time {
	first := map[string]time.Time{}
	if e == nil {
		return first
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, expires := range e.seen {
		if known, ok := first[key.peer]; !ok || expires.Before(known) {
			first[key.peer] = expires
		}
	}
	return first
}
