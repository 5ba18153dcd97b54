package teststack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates for the servers and clients of a test.
type Authority struct {
	File string // path of its certificate, in PEM

	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Certificate says what to sign.
type Certificate struct {
	Name  string    // the common name
	Hosts []string  // names and addresses; none for a client
	Until time.Time // when it expires; the zero time is in a day
}

// Files are the paths of a certificate, of its key, and of both in one file. All are PEM.
type Files struct{ Cert, Key, Both string }

// NewAuthority returns an authority with its files in dir.
func NewAuthority(t testing.TB, dir, name string) *Authority {
	t.Helper()
	a := &Authority{t: t, dir: dir, File: filepath.Join(dir, name+".pem")}
	a.key = a.newKey()
	template := a.template(Certificate{Name: name})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.write(a.File, encode("CERTIFICATE", der))
	return a
}

// Issue signs a certificate and writes it with its key to files with the given name.
// Files that exist are replaced, one after the other.
func (a *Authority) Issue(file string, c Certificate) Files {
	a.t.Helper()
	key := a.newKey()
	der, err := x509.CreateCertificate(rand.Reader, a.template(c), a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	path := filepath.Join(a.dir, file)
	f := Files{Cert: path + ".crt", Key: path + ".key", Both: path + ".pem"}
	a.write(f.Cert, encode("CERTIFICATE", der))
	a.write(f.Key, encode("PRIVATE KEY", secret))
	a.write(f.Both, append(encode("PRIVATE KEY", secret), encode("CERTIFICATE", der)...))
	return f
}

func (a *Authority) template(c Certificate) *x509.Certificate {
	a.t.Helper()
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		a.t.Fatal(err)
	}
	if c.Until.IsZero() {
		c.Until = time.Now().Add(24 * time.Hour)
	}
	template := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: c.Name},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: c.Until,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range c.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return template
}

func (a *Authority) newKey() *ecdsa.PrivateKey {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	return key
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// write replaces a file in one step.
func (a *Authority) write(path string, text []byte) {
	a.t.Helper()
	fresh := path + ".new"
	if err := errors.Join(os.WriteFile(fresh, text, 0o600), os.Rename(fresh, path)); err != nil {
		a.t.Fatal(err)
	}
}
