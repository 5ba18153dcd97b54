// Package devissuer mints tokens of the local OIDC issuer that netsim-dev
// serves, for "netsim token" and for tests. Production uses another issuer and
// none of this package.
//
// The issuer is a directory, <data>/issuer. cmd/netsim-dev, which is another
// module, serves it over HTTP:
//
//	url        the issuer's name, written by netsim-dev at its first start
//	keys.json  the private keys, newest first, a JWK set of mode 0600
//	jwks.json  their public halves, a JWK set
package devissuer

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"
)

// Audience is the audience of the tokens.
const Audience = "netsim"

// DefaultAccount is the billing account of a token when Options name none.
const DefaultAccount = "acct_0000000000e008000000000001"

// DefaultTTL is the default lifetime of a token (completions.md section 1.6).
const DefaultTTL = time.Hour

// Options describe a token. The zero value is a token of a user with every
// workspace of the default account.
type Options struct {
	Service    bool          // a service token instead of a user's
	User       string        // user id and name; "developer" or "service" when empty
	Account    string        // account id; DefaultAccount when empty
	Workspaces []string      // workspace ids; all when empty
	Roles      []string      // billing, operator; none when empty
	TTL        time.Duration // DefaultTTL when zero; negative for an expired token

	// Claims replaces claims and removes those whose value is nil. Tests use it to
	// mint invalid tokens.
	Claims map[string]any
}

// Mint returns a signed token (JWT, ES256) of the issuer in dataDir, valid
// from now, with the claims of completions.md section 1.6. The first call
// makes the key. Mint fails if netsim-dev has never run on dataDir.
func Mint(dataDir string, o Options, now time.Time) (string, error) {
	dir := filepath.Join(dataDir, "issuer")
	name, err := os.ReadFile(filepath.Join(dir, "url"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no issuer in %s yet: start netsim-dev on it first", dataDir)
	}
	if err != nil {
		return "", err
	}
	key, err := signingKey(dir)
	if err != nil {
		return "", fmt.Errorf("the issuer's keys in %s: %w", dir, err)
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: key},
		(&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(claims(strings.TrimSpace(string(name)), o, now)).Serialize()
}

func claims(issuer string, o Options, now time.Time) map[string]any {
	use, user := "user", "developer"
	if o.Service {
		use, user = "service", "service"
	}
	if o.User != "" {
		user = o.User
	}
	account, accountName := DefaultAccount, "default"
	if o.Account != "" {
		account, accountName = o.Account, o.Account
	}
	ttl := DefaultTTL
	if o.TTL != 0 {
		ttl = o.TTL
	}
	all := map[string]any{
		"iss":          issuer,
		"aud":          Audience,
		"sub":          user,
		"name":         user,
		"jti":          uuid.NewString(),
		"iat":          now.Unix(),
		"exp":          now.Add(ttl).Unix(),
		"token_use":    use,
		"account_id":   account,
		"account_name": accountName,
		"workspaces":   "*",
	}
	if len(o.Workspaces) > 0 {
		all["workspaces"] = o.Workspaces
	}
	if len(o.Roles) > 0 {
		all["roles"] = o.Roles
	}
	maps.Copy(all, o.Claims)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return all
}
