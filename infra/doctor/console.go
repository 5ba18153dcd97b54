package doctor

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
)

// Console is what logins to the console need of the issuer.
type Console struct {
	Endpoint // of the discovery document
	Issuer   string
	Scopes   []string
}

// Checks returns the checks of the console.
func (c Console) Checks() []Check {
	return append([]Check{{Component: c.Component, Name: "login", Run: c.login}}, c.Certificate()...)
}

func (c Console) login(ctx context.Context) Result {
	const advice = "correct NETSIM_OIDC_ISSUER or NETSIM_CONSOLE_DISCOVERY_URL, or start the issuer: without its discovery document nobody can log in to the console"
	status, text, err := c.get(ctx, c.URL, nil)
	switch {
	case err != nil:
		return Failure(advice, "no discovery document: %v", err)
	case status != http.StatusOK:
		return Failure(advice, "no discovery document: %s answers with status %d", c.URL, status)
	}
	var document struct {
		Issuer        string   `json:"issuer"`
		Authorization string   `json:"authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		Challenges    []string `json:"code_challenge_methods_supported"`
		Scopes        []string `json:"scopes_supported"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return Failure(advice, "the discovery document is not JSON: %v", err)
	}
	switch {
	case document.Issuer != c.Issuer:
		return Failure("set NETSIM_OIDC_ISSUER to the issuer's own name", "the issuer calls itself %q, the setting is %q", document.Issuer, c.Issuer)
	case document.Authorization == "" || document.Token == "":
		return Failure("choose an issuer with OpenID Connect's code flow", "the discovery document has no authorization or token endpoint")
	case len(document.Challenges) > 0 && !slices.Contains(document.Challenges, "S256"):
		return Failure("let the issuer accept S256", "the issuer accepts the code challenges %v, and not S256", document.Challenges)
	}
	for _, scope := range c.Scopes {
		if len(document.Scopes) > 0 && !slices.Contains(document.Scopes, scope) {
			return Warning("try a login; if it is refused, change NETSIM_CONSOLE_SCOPES", "the issuer does not list the scope %s", scope)
		}
	}
	return Good("people can be sent to %s", document.Authorization)
}
