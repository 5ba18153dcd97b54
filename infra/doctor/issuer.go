package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"netsim/infra/auth"
)

// Issuer is the issuer of tokens.
type Issuer struct {
	Endpoint          // of the keys
	Issuer     string // the claim iss
	Algorithms []string
}

// Checks returns the checks of the issuer.
func (i Issuer) Checks() []Check {
	checks := []Check{
		{Component: i.Component, Name: "keys", Run: i.keys},
		{Component: i.Component, Name: "discovery", Run: i.discovery},
		i.Clock(),
	}
	return append(checks, i.Certificate()...)
}

func (i Issuer) keys(ctx context.Context) Result {
	keys, err := auth.FetchKeys(ctx, i.client(), i.URL)
	if err != nil {
		return Failure("correct NETSIM_OIDC_JWKS_URL, or start the issuer: without its keys every request is refused", "%s: %v", i.URL, err)
	}
	var accepted []string
	for _, k := range keys {
		if slices.ContainsFunc(k.Algorithms, func(a string) bool { return slices.Contains(i.Algorithms, a) }) {
			accepted = append(accepted, k.ID)
		}
	}
	if len(accepted) == 0 {
		var offered []string
		for _, k := range keys {
			offered = append(offered, k.Algorithms...)
		}
		slices.Sort(offered)
		return Failure("add the issuer's algorithm to NETSIM_OIDC_ALGORITHMS",
			"no key is for an accepted algorithm: the keys are for %s, accepted are %s",
			strings.Join(slices.Compact(offered), ", "), strings.Join(i.Algorithms, ", "))
	}
	return Good("%d of %d keys can sign accepted tokens", len(accepted), len(keys))
}

func (i Issuer) discovery(ctx context.Context) Result {
	const advice = "compare NETSIM_OIDC_ISSUER and NETSIM_OIDC_JWKS_URL with the issuer's discovery document; the service does not need the document itself"
	at := auth.DiscoveryOf(i.Issuer)
	status, text, err := i.get(ctx, at, nil)
	switch {
	case err != nil:
		return Warning(advice, "no discovery document: %v", err)
	case status != http.StatusOK:
		return Warning(advice, "no discovery document: %s answers with status %d", at, status)
	}
	var document struct {
		Issuer     string   `json:"issuer"`
		KeysURL    string   `json:"jwks_uri"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return Warning(advice, "the discovery document is not JSON: %v", err)
	}
	switch shared := slices.ContainsFunc(document.Algorithms, func(a string) bool { return slices.Contains(i.Algorithms, a) }); {
	case document.Issuer != i.Issuer:
		return Failure("set NETSIM_OIDC_ISSUER to the issuer's own name: every token is refused",
			"the issuer calls itself %q, the setting is %q", document.Issuer, i.Issuer)
	case document.KeysURL != i.URL:
		return Warning("set NETSIM_OIDC_JWKS_URL to the URL in the discovery document, unless the service reaches the issuer by another name",
			"the issuer's keys are at %q, the setting is %q", document.KeysURL, i.URL)
	case len(document.Algorithms) > 0 && !shared:
		return Failure("add the issuer's algorithm to NETSIM_OIDC_ALGORITHMS",
			"the issuer signs with %s, accepted are %s", strings.Join(document.Algorithms, ", "), strings.Join(i.Algorithms, ", "))
	}
	return Good("the issuer and its keys are as set")
}

// readAtMost reads a text, which may have at most the number of bytes.
func readAtMost(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("the answer has more than %d bytes", most)
	}
	return text, err
}
