package auth_test

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/infra/devissuer"
	"netsim/internal/teststack"
)

func TestVerifyReadsTheClaims(t *testing.T) {
	t.Parallel()
	user := auth.Caller{
		UserID: events.DerivedID(events.UserPrefix, account, issuerName, "user-1"), Subject: "user-1", UserName: "Ada", AccountID: account, AccountName: "Acme", Platform: "netsim",
		Workspaces: []string{workspaceA, workspaceB},
	}
	with := func(change func(*auth.Caller)) auth.Caller {
		c := user
		change(&c)
		return c
	}
	for name, test := range map[string]struct {
		pairs []any
		want  auth.Caller
	}{
		"user":             {nil, user},
		"audience in list": {[]any{"aud", []string{"other", audience}}, user},
		"no token_use":     {[]any{"token_use", nil}, user},
		"service":          {[]any{"token_use", "service"}, with(func(c *auth.Caller) { c.Service = true })},
		"service in list":  {[]any{"token_use", []string{"x", "service"}}, with(func(c *auth.Caller) { c.Service = true })},
		"name defaults":    {[]any{"name", nil}, with(func(c *auth.Caller) { c.UserName = "user-1" })},
		"no workspaces":    {[]any{"workspaces", nil}, with(func(c *auth.Caller) { c.Workspaces = nil })},
		"all workspaces":   {[]any{"workspaces", "*"}, with(func(c *auth.Caller) { c.Workspaces, c.AllWorkspaces = nil, true })},
		"sandbox":          {[]any{"sandbox_id", "s1", "sandbox_name", "S"}, with(func(c *auth.Caller) { c.SandboxID, c.SandboxName = "s1", "S" })},
		"platform service": {[]any{"token_use", "service", "account_id", "*"}, with(func(c *auth.Caller) {
			c.Service, c.AccountID = true, "*"
			c.UserID = events.DerivedID(events.UserPrefix, "*", issuerName, "user-1")
		})},
		"billing":            {[]any{"roles", "billing"}, with(func(c *auth.Caller) { c.Billing = true })},
		"operator":           {[]any{"roles", []string{"operator"}}, with(func(c *auth.Caller) { c.Operator = true })},
		"both roles":         {[]any{"roles", []string{"operator", "x", "billing"}}, with(func(c *auth.Caller) { c.Billing, c.Operator = true, true })},
		"unknown roles":      {[]any{"roles", []string{"admin", "Billing", "operator "}}, user},
		"roles in one text":  {[]any{"roles", "billing operator"}, user},
		"no roles":           {[]any{"roles", []string{}}, user},
		"roles of a service": {[]any{"token_use", "service", "roles", "operator"}, with(func(c *auth.Caller) { c.Service, c.Operator = true, true })},
		"fractional times":   {[]any{"nbf", float64(newClock().Now().Unix()) + 0.5}, user},
		"nbf within skew":    {[]any{"nbf", newClock().Now().Add(29 * time.Second).Unix()}, user},
		"ended within skew":  {[]any{"exp", newClock().Now().Add(-29 * time.Second).Unix()}, user},
		"issued ahead":       {[]any{"iat", newClock().Now().Add(time.Minute).Unix()}, user},
		"no times but exp":   {[]any{"iat", nil, "nbf", nil}, user},
		"no platform":        {[]any{"platform", nil}, with(func(c *auth.Caller) { c.Platform = "" })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, iss := newClock(), newIssuer(t, "k1")
			got := mustVerify(t.Context(), t, newVerifier(t, iss, c), iss.token(t, "k1", userClaims(c, test.pairs...)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("caller (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	now := newClock().Now()
	for name, pairs := range map[string][]any{
		"expired":                  {"exp", now.Add(-30 * time.Second).Unix()},
		"no expiry":                {"exp", nil},
		"expiry not a number":      {"exp", "tomorrow"},
		"expiry a number as text":  {"exp", strconv.FormatInt(now.Add(time.Hour).Unix(), 10)},
		"expiry beyond all time":   {"exp", 1e300},
		"issued in the future":     {"iat", now.Add(61 * time.Second).Unix()},
		"issued at a text":         {"iat", strconv.FormatInt(now.Unix(), 10)},
		"another platform":         {"platform", "elsewhere"},
		"platform in other case":   {"platform", "Netsim"},
		"platform not a string":    {"platform", []string{"netsim"}},
		"nbf a number as text":     {"nbf", strconv.FormatInt(now.Unix(), 10)},
		"not yet valid":            {"nbf", now.Add(31 * time.Second).Unix()},
		"nbf beyond all time":      {"nbf", 1e300},
		"other audience":           {"aud", "other"},
		"no audience":              {"aud", nil},
		"other issuer":             {"iss", "https://elsewhere.test"},
		"issuer with a slash":      {"iss", issuerName + "/"},
		"no subject":               {"sub", nil},
		"subject not a string":     {"sub", 7},
		"subject with control":     {"sub", "a\nb"},
		"subject too long":         {"sub", strings.Repeat("x", 256)},
		"no account":               {"account_id", nil},
		"account not an id":        {"account_id", "acct_ILOU"},
		"user for all accounts":    {"account_id", "*"},
		"workspaces not a list":    {"workspaces", 3},
		"workspaces another word":  {"workspaces", "all"},
		"a workspace not an id":    {"workspaces", []string{"workspace_1"}},
		"star inside the list":     {"workspaces", []string{"*"}},
		"token_use not a string":   {"token_use", true},
		"token_use list of others": {"token_use", []int{1}},
		"roles true":               {"roles", true},
		"roles an object":          {"roles", map[string]any{"billing": true}},
		"roles list of others":     {"roles", []any{"billing", 1}},
		"a role for all accounts":  {"account_id", "*", "roles", []string{"billing", "operator"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, iss := newClock(), newIssuer(t, "k1")
			refuses(t, newVerifier(t, iss, c), iss.token(t, "k1", userClaims(c, pairs...)))
		})
	}
}

func TestVerifyRefusesForgeries(t *testing.T) {
	t.Parallel()
	c, iss := newClock(), newIssuer(t, "k1")
	v := newVerifier(t, iss, c)
	key := iss.key(t, "k1")
	good := iss.token(t, "k1", userClaims(c))
	parts := strings.Split(good, ".")
	public, err := x509.MarshalPKIXPublicKey(key.Key.(*ecdsa.PrivateKey).Public())
	if err != nil {
		t.Fatal(err)
	}
	otherKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := jose.ParseSigned(good, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	serviceClaims, _ := json.Marshal(userClaims(c, "token_use", "service"))
	header := func(alg string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"` + alg + `","kid":"k1"}`))
	}
	for name, token := range map[string]string{
		"empty":                  "",
		"text":                   "not a token",
		"two dots":               "..",
		"alg none":               header("none") + "." + parts[1] + ".",
		"alg none, capital":      header("None") + "." + parts[1] + ".",
		"hmac with public key":   sign(t, jose.HS256, jose.JSONWebKey{Key: public, KeyID: "k1"}, userClaims(c)),
		"algorithm not pinned":   sign(t, jose.PS256, jose.JSONWebKey{Key: otherKey, KeyID: "k1"}, userClaims(c)),
		"another key, known kid": sign(t, jose.RS256, jose.JSONWebKey{Key: otherKey, KeyID: "k1"}, userClaims(c)),
		"payload replaced":       parts[0] + "." + base64.RawURLEncoding.EncodeToString(serviceClaims) + "." + parts[2],
		"signature cut":          good[:len(good)-4],
		"signature missing":      parts[0] + "." + parts[1] + ".",
		"json serialization":     jws.FullSerialize(),
		"oversize":               good + strings.Repeat("A", 16<<10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, v, token)
		})
	}
}

func TestServiceClaimIsConfigurable(t *testing.T) {
	t.Parallel()
	c, iss := newClock(), newIssuer(t, "k1")
	v := newVerifier(t, iss, c, func(a *auth.Config) { a.ServiceClaim, a.ServiceValue = "gty", "client-credentials" })
	if mustVerify(t.Context(), t, v, iss.token(t, "k1", userClaims(c, "token_use", "service"))).Service {
		t.Error("token_use marks a service token, want only the configured claim to")
	}
	if !mustVerify(t.Context(), t, v, iss.token(t, "k1", userClaims(c, "gty", "client-credentials"))).Service {
		t.Error("Service = false for a token with the configured claim, want true")
	}
}

func TestRolesClaimIsConfigurable(t *testing.T) {
	t.Parallel()
	c, iss := newClock(), newIssuer(t, "k1")
	const groups = "https://example.test/groups"
	v := newVerifier(t, iss, c, func(a *auth.Config) { a.RolesClaim = groups })
	if got := mustVerify(t.Context(), t, v, iss.token(t, "k1", userClaims(c, "roles", []string{"billing", "operator"}))); got.Billing || got.Operator {
		t.Errorf("the claim roles gives %+v, want only the configured claim to give roles", got)
	}
	if got := mustVerify(t.Context(), t, v, iss.token(t, "k1", userClaims(c, groups, []string{"billing", "operator"}))); !got.Billing || !got.Operator {
		t.Errorf("the configured claim gives %+v, want both roles", got)
	}
}

func TestTokensOfTheDevelopmentIssuer(t *testing.T) {
	t.Parallel()
	development := teststack.Issuer(t)
	v := newVerifier(t, &issuer{}, time.Now, func(c *auth.Config) {
		c.Issuer, c.JWKSURL, c.Audience = development.URL, development.JWKSURL, development.Audience
	})
	user := mustVerify(t.Context(), t, v, development.Token(devissuer.Options{}))
	if user.Service || !user.AllWorkspaces || user.UserID == "" || user.AccountID == "" {
		t.Errorf("user %+v, want a user with every workspace of an account", user)
	}
	if !mustVerify(t.Context(), t, v, development.Token(devissuer.Options{Service: true})).Service {
		t.Error("Service = false for a service token, want true")
	}
	if c := mustVerify(t.Context(), t, v, development.Token(devissuer.Options{Roles: []string{"billing"}})); !c.Billing || c.Operator || c.Service {
		t.Errorf("a person with the role billing is %+v", c)
	}
	refuses(t, v, development.Token(devissuer.Options{TTL: -time.Hour}))
}

func TestNewRefusesUnsafeConfig(t *testing.T) {
	t.Parallel()
	good := auth.Config{Issuer: issuerName, JWKSURL: "http://127.0.0.1/keys", Audience: audience, Platform: "netsim",
		Algorithms: []string{"ES256", "RS256"}, ServiceClaim: "token_use", ServiceValue: "service", KeysMaxAge: 10 * time.Minute}
	for name, change := range map[string]func(*auth.Config){
		"no issuer":     func(c *auth.Config) { c.Issuer = "" },
		"no keys":       func(c *auth.Config) { c.JWKSURL = "" },
		"no platform":   func(c *auth.Config) { c.Platform = "" },
		"no audience":   func(c *auth.Config) { c.Audience = "" },
		"none":          func(c *auth.Config) { c.Algorithms = []string{"ES256", "none"} },
		"hmac":          func(c *auth.Config) { c.Algorithms = []string{"HS256"} },
		"wide skew":     func(c *auth.Config) { c.Skew = time.Hour },
		"no algorithm":  func(c *auth.Config) { c.Algorithms = nil },
		"no claim":      func(c *auth.Config) { c.ServiceClaim = "" },
		"short key age": func(c *auth.Config) { c.KeysMaxAge = time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := good
			change(&c)
			if _, err := auth.New(c); err == nil {
				t.Error("New: no error, want the configuration refused")
			}
		})
	}
}

func refuses(t *testing.T, v *auth.Verifier, token string) {
	t.Helper()
	caller, err := v.Verify(t.Context(), token)
	if !fault.Is(err, fault.Unauthorized) {
		t.Fatalf("verify: got caller %+v, error %v, want %s", caller, err, fault.Unauthorized)
	}
}
