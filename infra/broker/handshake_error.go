package broker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

// handshakeError is a TLS handshake that failed. Its text is one sentence.
type handshakeError struct {
	address string
	cause   error
}

func (e handshakeError) Unwrap() error { return e.cause }

func (e handshakeError) Error() string {
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](e.cause); ok {
		issuer := "an authority"
		if unknown.Cert != nil {
			issuer = fmt.Sprintf("%q", unknown.Cert.Issuer)
		}
		return fmt.Sprintf("the certificate of the broker at %s is signed by %s, which is not trusted: the CA file must have its authority", e.address, issuer)
	}
	if bad, ok := errors.AsType[x509.CertificateInvalidError](e.cause); ok && bad.Reason == x509.Expired && bad.Cert != nil {
		return fmt.Sprintf("the certificate of the broker at %s is valid from %s to %s and not now", e.address,
			bad.Cert.NotBefore.UTC().Format(time.RFC3339), bad.Cert.NotAfter.UTC().Format(time.RFC3339))
	}
	if host, ok := errors.AsType[x509.HostnameError](e.cause); ok {
		return fmt.Sprintf("the certificate of the broker at %s is not for %s: it is for %s", e.address, host.Host, names(host.Certificate))
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](e.cause); ok {
		return fmt.Sprintf("the broker at %s does not answer by TLS: is this the address of a listener without TLS?", e.address)
	}
	return fmt.Sprintf("the TLS handshake with the broker at %s: %v", e.address, e.cause)
}

// names lists the names and addresses that a certificate is for.
func names(c *x509.Certificate) string {
	all := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return "no host"
	}
	if len(all) > 10 {
		all = append(all[:10], "others")
	}
	return strings.Join(all, ", ")
}
