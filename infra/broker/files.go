package broker

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxFile bounds a file of certificates, in bytes.
const maxFile = 1 << 20

// maxBrokers bounds the brokers whose certificates are remembered.
const maxBrokers = 1000

// files are the certificates to connect with. They are read at each new connection,
// which is rare, and parsed when they have changed.
type files struct {
	TLS
	log *slog.Logger

	mu      sync.Mutex
	tried   [3][]byte // what was read last: CA, certificate, key
	wrong   error     // of what was read last
	config  *tls.Config
	ca      time.Time            // when the first authority expires
	own     time.Time            // when the client certificate expires
	brokers map[string]time.Time // when the broker's certificate expires, by address

	reloads, failures, handshakes, bad atomic.Int64
}

func openFiles(c TLS, log *slog.Logger) (*files, error) {
	if (c.Cert == "") != (c.Key == "") {
		return nil, errors.New("a client certificate for Kafka needs both its file and the file of its key")
	}
	f := &files{TLS: c, log: log, brokers: map[string]time.Time{}}
	texts, err := f.read()
	if err != nil {
		return nil, err
	}
	f.tried = texts
	if err := f.use(texts); err != nil {
		return nil, err
	}
	return f, nil
}

// read reads the three files. Those that are not set are empty.
func (f *files) read() (texts [3][]byte, err error) {
	for i, path := range [...]string{f.CA, f.Cert, f.Key} {
		if path == "" {
			continue
		}
		if texts[i], err = readFile(path, maxFile); err != nil {
			return texts, err
		}
	}
	return texts, nil
}

func readFile(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is longer than %d bytes", path, most)
	}
	return text, err
}

// use parses the files and puts them into use.
func (f *files) use(texts [3][]byte) error {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	var ca, own time.Time
	if f.CA != "" {
		roots, err := authorities(texts[0])
		if err != nil {
			return fmt.Errorf("%s is not a file of certificates in PEM: %w", f.CA, err)
		}
		c.RootCAs = x509.NewCertPool()
		for _, cert := range roots {
			c.RootCAs.AddCert(cert)
			ca = sooner(ca, cert.NotAfter)
		}
	}
	if f.Cert != "" {
		pair, err := tls.X509KeyPair(texts[1], texts[2])
		if err != nil {
			// The error names neither file, and nothing of the key.
			return fmt.Errorf("%s and %s are not a certificate and its key in PEM: %w", f.Cert, f.Key, err)
		}
		own = pair.Leaf.NotAfter
		c.Certificates = []tls.Certificate{pair}
	}
	f.config, f.ca, f.own = c, ca, own
	return nil
}

func authorities(text []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, cert)
	}
	if len(all) == 0 {
		return nil, errors.New("it has no certificate")
	}
	return all, nil
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// check reads the files, puts changed ones into use, and returns what is wrong with them.
func (f *files) check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	return f.wrong
}

// refresh puts changed files into use. What cannot be used is counted and logged once,
// and the former certificates stay. Its caller holds the lock.
func (f *files) refresh() {
	texts, err := f.read()
	if err == nil && slices.EqualFunc(texts[:], f.tried[:], bytes.Equal) {
		return
	}
	if err == nil {
		f.tried, err = texts, f.use(texts)
	}
	switch {
	case err == nil:
		f.wrong = nil
		f.reloads.Add(1)
		f.log.Info("the certificates for Kafka were read again", "expires", f.own, "authorities_expire", f.ca)
	case f.wrong == nil || f.wrong.Error() != err.Error():
		f.wrong = err
		f.failures.Add(1)
		f.log.Error("the changed certificates for Kafka cannot be used; the former ones stay in use", "error", err)
	}
}

// handshake returns the TLS connection over conn to the broker at the address.
func (f *files) handshake(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	f.mu.Lock()
	f.refresh()
	c := f.config.Clone()
	f.mu.Unlock()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	c.ServerName = host
	if f.ServerName != "" {
		c.ServerName = f.ServerName
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	secure := tls.Client(conn, c)
	f.handshakes.Add(1)
	if err := secure.HandshakeContext(ctx); err != nil {
		f.bad.Add(1)
		return nil, handshakeError{address, err}
	}
	f.remember(address, secure.ConnectionState().PeerCertificates[0].NotAfter)
	return secure, nil
}

func (f *files) remember(address string, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.brokers[address]; known || len(f.brokers) < maxBrokers {
		f.brokers[address] = until
	}
}

func (f *files) report(r *Report) {
	f.mu.Lock()
	r.CAUntil, r.CertUntil = f.ca, f.own
	for _, until := range f.brokers {
		r.BrokerUntil = sooner(r.BrokerUntil, until)
	}
	f.mu.Unlock()
	r.Reloads, r.ReloadFailures = f.reloads.Load(), f.failures.Load()
	r.Handshakes, r.BadHandshakes = f.handshakes.Load(), f.bad.Load()
}
