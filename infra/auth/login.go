package auth

import (
	"context"
	"strings"
	"time"

	"netsim/fault"
)

// DiscoveryOf returns the URL of an issuer's discovery document (OpenID Connect Discovery
// 1.0 section 4).
func DiscoveryOf(issuer string) string {
	return strings.TrimRight(issuer, "/") + "/.well-known/openid-configuration"
}

// VerifyUntil is Verify for a holder of the token that needs to know when it expires.
func (v *Verifier) VerifyUntil(ctx context.Context, token string) (Caller, time.Time, error) {
	caller, err := v.Verify(ctx, token)
	if err != nil {
		return Caller{}, time.Time{}, err
	}
	parsed, _, err := v.parse(ctx, token, v.config.Audience)
	if err != nil {
		return Caller{}, time.Time{}, err
	}
	return caller, parsed.Expiry, nil
}

// Login is the outcome of a login at the issuer (OpenID Connect Core 1.0 section 3.1.3.3).
type Login struct {
	IDToken, AccessToken string
	ClientID             string // of the client that began the login
	Nonce                string // that the client sent
}

// VerifyLogin returns an error unless the issuer made the ID token for this client and this
// login, and for the access token if it says for which (section 3.1.3.7). The error is
// Unavailable if the issuer's keys are not known, and Forbidden otherwise.
func (v *Verifier) VerifyLogin(ctx context.Context, l Login) error {
	deny := func(why string, cause error) error {
		return &fault.Fault{Code: fault.Forbidden, Message: "the issuer's ID token " + why, Cause: cause}
	}
	if len(l.IDToken) > maxToken {
		return deny("is too long", nil)
	}
	parsed, _, err := v.parse(ctx, l.IDToken, l.ClientID)
	if fault.Is(err, fault.Unavailable) {
		return err
	}
	if err != nil {
		return deny("is not valid", err)
	}
	var more struct {
		times
		AuthorizedParty string `json:"azp"`
	}
	if err := parsed.Claims(&more); err != nil {
		return deny("has malformed claims", err)
	}
	switch why := more.valid(v.config.Now(), v.config.Skew); {
	case why != "":
		return deny(why, nil)
	case parsed.Nonce != l.Nonce:
		return deny("is for another login", nil)
	case more.AuthorizedParty != "" && more.AuthorizedParty != l.ClientID:
		return deny("is for another client", nil)
	case parsed.AccessTokenHash != "":
		if err := parsed.VerifyAccessToken(l.AccessToken); err != nil {
			return deny("is for another access token", err)
		}
	}
	return nil
}
