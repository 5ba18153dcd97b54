package teststack

import (
	"sync"
	"testing"
	"time"

	"netsim/infra/devissuer"
)

// TokenIssuer is an OIDC issuer that mints any token for a test.
type TokenIssuer struct {
	URL      string // the issuer's name; discovery works on it
	JWKSURL  string
	Audience string

	t    testing.TB
	data string
}

// Issuer returns the OIDC issuer that tests share. It already has a signing key.
func Issuer(t testing.TB) TokenIssuer {
	t.Helper()
	e := sharedIssuer.get(t, "issuer")
	i := TokenIssuer{
		URL: e.Issuer, JWKSURL: e.JWKSURL, Audience: e.Audience,
		t: t, data: sharedIssuer.data,
	}
	firstToken.Do(func() { i.Token(devissuer.Options{}) })
	return i
}

// NewIssuer returns an OIDC issuer of this test alone, which may rotate its keys: others
// would refuse the tokens of a new key until they look for it.
func NewIssuer(t testing.TB) TokenIssuer {
	t.Helper()
	dir := t.TempDir()
	e := Start(t, "issuer", dir).running.Endpoint
	return TokenIssuer{URL: e.Issuer, JWKSURL: e.JWKSURL, Audience: e.Audience, t: t, data: dir}
}

// firstToken mints the first token of the shared issuer, which makes its key.
var firstToken sync.Once

// Token returns a token. It is valid now unless the options say otherwise.
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
