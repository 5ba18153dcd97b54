package teststack

import (
	"sync"
	"testing"
	"time"

	"netsim/infra/devissuer"
)

// TokenIssuer is an OIDC issuer that mints whatever a test asks for.
type TokenIssuer struct {
	URL      string // the issuer's name; discovery works on it
	JWKSURL  string
	Audience string

	t    testing.TB
	data string
}

// Issuer returns the OIDC issuer that the tests of this process share. It has a
// key: the first token makes it.
func Issuer(t testing.TB) TokenIssuer {
	t.Helper()
	e := sharedIssuer.get(t, "issuer")
	i := TokenIssuer{
		URL: e.Issuer, JWKSURL: e.JWKSURL, Audience: e.Audience,
		t: t, data: sharedIssuer.process.data,
	}
	firstToken.Do(func() { i.Token(devissuer.Options{}) })
	return i
}

// firstToken is for the key of the shared issuer.
var firstToken sync.Once

// Token returns a token that is valid now, unless the options say otherwise.
func (i TokenIssuer) Token(o devissuer.Options) string {
	i.t.Helper()
	token, err := devissuer.Mint(i.data, o, time.Now())
	if err != nil {
		i.t.Fatalf("teststack: %v", err)
	}
	return token
}

// Rotate makes the issuer sign with a new key. The last few keys stay valid.
func (i TokenIssuer) Rotate() {
	i.t.Helper()
	if err := devissuer.Rotate(i.data); err != nil {
		i.t.Fatalf("teststack: %v", err)
	}
}
