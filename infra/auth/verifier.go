// Package auth authenticates requests: it verifies OIDC bearer tokens and turns
// their claims into a Caller (completions.md section 1.6).
//
// A token's signature, issuer, audience, algorithm and times are verified once.
// An accepted token is then cached by its SHA-256 until it expires. Refusals are
// not cached.
//
// Run fetches the issuer's keys in the background. When the issuer withdraws a
// key, its tokens are refused within Config.KeysMaxAge, cached or not. When the
// issuer has not confirmed its keys for that long, no token is accepted until it
// does. A new key is known at most ten seconds after the first token signed with
// it arrives. Tokens cannot cause more than one fetch in ten seconds.
package auth

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"netsim/fault"
)

const (
	maxToken = 16 << 10 // bytes
	maxSkew  = 2 * time.Minute
)

// Config says which tokens are accepted. Issuer, JWKSURL, Audience, Platform and
// KeysMaxAge are required; every other field has a default.
type Config struct {
	Issuer   string // the claim iss, byte for byte
	JWKSURL  string // URL of the issuer's keys; there is no discovery
	Audience string // must be in the claim aud
	Platform string // the claim platform, unless a token has none

	Algorithms   []string      // of signatures; none and HMAC are refused
	ServiceClaim string        // the claim that marks service tokens
	ServiceValue string        // the value of ServiceClaim in a service token
	RolesClaim   string        // the claim that lists the roles; default "roles"
	Skew         time.Duration // tolerated clock difference; default 30 s, at most 2 min
	CacheSize    int           // cached tokens, within a factor of two; default 10,000
	KeysMaxAge   time.Duration // how long keys are used without confirmation; at least 1 min

	Client *http.Client     // fetches the keys; default a plain client
	Now    func() time.Time // default time.Now
	Log    *slog.Logger     // logs failed fetches; default none

	// Directory, when set, is called with the caller of each newly verified token
	// before Verify returns, so that names can be stored.
	Directory func(context.Context, Caller)
}

// Verifier verifies bearer tokens. It is safe for concurrent use.
type Verifier struct {
	config Config
	keys   *keySet
	seen   *cache
}

// New returns a verifier. It does not contact the issuer.
func New(c Config) (*Verifier, error) {
	if c.Issuer == "" || c.JWKSURL == "" || c.Audience == "" || c.Platform == "" {
		return nil, errors.New("auth: issuer, key set url, audience and platform are required")
	}
	if len(c.Algorithms) == 0 || c.ServiceClaim == "" || c.ServiceValue == "" {
		return nil, errors.New("auth: algorithms, and claim and value of service tokens, are required")
	}
	for _, a := range c.Algorithms {
		if a == "none" || strings.HasPrefix(a, "HS") {
			return nil, fmt.Errorf("auth: algorithm %s cannot be verified with a public key", a)
		}
	}
	if c.RolesClaim == "" {
		c.RolesClaim = "roles"
	}
	if c.Skew == 0 {
		c.Skew = 30 * time.Second
	}
	if c.Skew < 0 || c.Skew > maxSkew {
		return nil, fmt.Errorf("auth: skew must be between 0 and %s, got %s", maxSkew, c.Skew)
	}
	if c.CacheSize <= 0 {
		c.CacheSize = 10_000
	}
	if c.KeysMaxAge < keysMinMaxAge {
		return nil, fmt.Errorf("auth: the maximum age of the issuer's keys must be at least %s, got %s", keysMinMaxAge, c.KeysMaxAge)
	}
	if c.Client == nil {
		c.Client = &http.Client{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Directory == nil {
		c.Directory = func(context.Context, Caller) {}
	}
	return &Verifier{config: c, keys: newKeySet(&c), seen: newCache(c.CacheSize)}, nil
}

// Run fetches the issuer's keys until ctx ends. No token is accepted before the
// first fetch succeeds.
func (v *Verifier) Run(ctx context.Context) error {
	v.keys.run(ctx)
	return nil
}

// Keys returns when the known keys expire, or the zero time if none are known,
// and the error of the last fetch.
func (v *Verifier) Keys() (expire time.Time, err error) {
	known := v.keys.current.Load()
	return known.expires, known.err
}

// Report has the counters of a verifier.
type Report struct {
	Fetched, Failed int64     // fetches of the issuer's keys since the start
	Confirmed       time.Time // start of the last successful fetch; zero before the first
	Tokens          int       // cached tokens
	TokenBytes      int       // size of the cached tokens' hashes and callers
}

// Report returns the verifier's counters.
func (v *Verifier) Report() Report {
	r := Report{Fetched: v.keys.fetched.Load(), Failed: v.keys.failed.Load()}
	if expire, _ := v.Keys(); !expire.IsZero() {
		r.Confirmed = expire.Add(-v.config.KeysMaxAge)
	}
	r.Tokens, r.TokenBytes = v.seen.contents()
	return r
}

// Verify returns the token's caller. The error is Unauthorized if the token is
// not valid, and Unavailable if the issuer's keys are not known, so that the
// token cannot be checked.
func (v *Verifier) Verify(ctx context.Context, token string) (Caller, error) {
	if len(token) > maxToken {
		return Caller{}, fault.New(fault.Unauthorized, "the bearer token is longer than %d bytes", maxToken)
	}
	var onStack [1024]byte // holds an ordinary token, so that the copy allocates nothing
	hash := sha256.Sum256(append(onStack[:0], token...))
	now, keys := v.config.Now(), v.keys.current.Load()
	if keys.outage(now) == nil {
		if known, ok := v.seen.get(hash, now, keys.epoch); ok {
			return known.caller, nil
		}
	}
	fresh, err := v.verify(ctx, token)
	if err != nil {
		return Caller{}, err
	}
	if v.seen.put(hash, fresh) {
		v.config.Directory(ctx, fresh.caller)
	}
	return fresh.caller, nil
}

func (v *Verifier) verify(ctx context.Context, token string) (*verified, error) {
	if strings.Count(token, ".") != 2 {
		return nil, refused("is not a signed jwt", nil)
	}
	parsed, with, err := v.parse(ctx, token, v.config.Audience)
	if err != nil {
		return nil, err
	}
	var c claims
	if err := parsed.Claims(&c); err != nil {
		return nil, refused("has malformed claims", err)
	}
	var all map[string]json.RawMessage
	if err := parsed.Claims(&all); err != nil {
		return nil, refused("has malformed claims", err)
	}
	if why := c.valid(v.config.Now(), v.config.Skew); why != "" {
		return nil, refused(why, nil)
	}
	uses, err := textsOf(all, v.config.ServiceClaim)
	if err != nil {
		return nil, refused("has malformed claims", err)
	}
	roles, err := textsOf(all, v.config.RolesClaim)
	if err != nil {
		return nil, refused("has malformed claims", err)
	}
	caller, err := c.caller(v.config.Issuer, v.config.Platform, slices.Contains(uses, v.config.ServiceValue))
	if err != nil {
		return nil, &fault.Fault{Code: fault.Unauthorized, Message: "the bearer token is refused: " + err.Error()}
	}
	caller.Billing, caller.Operator = slices.Contains(roles, BillingRole), slices.Contains(roles, OperatorRole)
	return &verified{caller: caller, ends: time.Time(*c.Expiry).Add(v.config.Skew), epoch: with.epoch}, nil
}

// parse checks everything about a token for the audience but its times and further claims.
// It returns the keys that verified the signature.
func (v *Verifier) parse(ctx context.Context, token, audience string) (*oidc.IDToken, *known, error) {
	attempt := &attempt{keys: v.keys, algorithms: v.config.Algorithms}
	parsed, err := oidc.NewVerifier(v.config.Issuer, attempt, &oidc.Config{
		ClientID:             audience,
		SupportedSigningAlgs: v.config.Algorithms,
		SkipExpiryCheck:      true, // checked with the other times
	}).Verify(ctx, token)
	if attempt.outage != nil {
		return nil, nil, &fault.Fault{
			Code:       fault.Unavailable,
			Message:    "the token issuer's keys cannot be fetched",
			RetryAfter: keysMinInterval,
			Cause:      attempt.outage,
		}
	}
	if err != nil {
		return nil, nil, refused("is not valid", err)
	}
	return parsed, attempt.with, nil
}

func refused(why string, cause error) error {
	return &fault.Fault{Code: fault.Unauthorized, Message: "the bearer token " + why, Cause: cause}
}

// attempt is the key set of one verification. It distinguishes an outage of the
// issuer from a bad signature; the OIDC library reports both as the same error.
type attempt struct {
	keys       *keySet
	algorithms []string
	with       *known // the keys that verified the signature
	outage     error
}

func (a *attempt) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	algorithms := make([]jose.SignatureAlgorithm, len(a.algorithms))
	for i, name := range a.algorithms {
		algorithms[i] = jose.SignatureAlgorithm(name)
	}
	jws, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, fmt.Errorf("parse the token: %w", err)
	}
	var signed []byte
	if signed, a.with, a.outage = a.keys.payload(ctx, jws); signed == nil {
		return nil, errUnknownKey
	}
	return signed, nil
}
