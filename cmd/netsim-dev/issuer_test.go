package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	verifier = "a-verifier-of-43-characters-or-more-as-rfc-7636-demands"
	callback = "http://127.0.0.1:9/console/callback"
)

// testIssuer is the issuer with a key and its own directory.
type testIssuer struct {
	*httptest.Server
	t   *testing.T
	dir string
	key *ecdsa.PrivateKey
}

func newTestIssuer(t *testing.T) *testIssuer {
	t.Helper()
	i := &testIssuer{t: t, dir: t.TempDir()}
	var err error
	if i.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	public, err := i.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	private, err := i.key.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	set, err := json.Marshal(map[string]any{"keys": []map[string]string{{
		"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "k1", "x": base64URL(public[1:33]), "y": base64URL(public[33:]), "d": base64URL(private),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(i.dir, "keys.json"), set, 0o600); err != nil {
		t.Fatal(err)
	}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		issuerHandler(i.dir, i.URL, i.URL).ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

// asks returns the parameters of an authorization request, changed by pairs.
func asks(pairs ...string) url.Values {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"client_id": {"netsim-console"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"openid profile offline_access"},
		"state": {"s1"}, "nonce": {"n1"}, "code_challenge": {base64URL(sum[:])}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

func (i *testIssuer) do(request *http.Request, err error) (*http.Response, string) {
	i.t.Helper()
	if err != nil {
		i.t.Fatal(err)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		i.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	return answer, string(text)
}

func (i *testIssuer) get(path string) (*http.Response, string) {
	i.t.Helper()
	return i.do(http.NewRequestWithContext(i.t.Context(), http.MethodGet, i.URL+path, nil))
}

func (i *testIssuer) post(path string, form url.Values) (*http.Response, string) {
	i.t.Helper()
	request, err := http.NewRequestWithContext(i.t.Context(), http.MethodPost, i.URL+path, strings.NewReader(form.Encode()))
	if err == nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return i.do(request, err)
}

// answers returns the parameters with which the client gets the browser back.
func (i *testIssuer) answers(answer *http.Response) url.Values {
	i.t.Helper()
	to, err := answer.Location()
	if err != nil || answer.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to.String(), callback+"?") {
		i.t.Fatalf("%s leads to %v, %v", answer.Status, to, err)
	}
	return to.Query()
}

// code logs a user in.
func (i *testIssuer) code(fields ...string) string {
	i.t.Helper()
	answer, _ := i.post("/authorize", asks(append([]string{"user", "ada"}, fields...)...))
	return i.answers(answer).Get("code")
}

// given are the tokens of the token endpoint, or its error.
type given struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	ID      string `json:"id_token"`
	Lasts   int    `json:"expires_in"`
	Error   string `json:"error"`
}

func (i *testIssuer) token(pairs ...string) (g given) {
	i.t.Helper()
	form := url.Values{"client_id": {"netsim-console"}}
	for n := 0; n < len(pairs); n += 2 {
		form.Set(pairs[n], pairs[n+1])
	}
	answer, text := i.post("/token", form)
	if err := json.Unmarshal([]byte(text), &g); err != nil || answer.Header.Get("Cache-Control") != "no-store" || (answer.StatusCode == http.StatusOK) != (g.Error == "") {
		i.t.Fatalf("%s %v: %s", answer.Status, err, text)
	}
	return g
}

func (i *testIssuer) redeem(code string, pairs ...string) given {
	i.t.Helper()
	return i.token(append([]string{"grant_type", "authorization_code", "code", code, "redirect_uri", callback, "code_verifier", verifier}, pairs...)...)
}

func (i *testIssuer) refresh(token string) given {
	i.t.Helper()
	return i.token("grant_type", "refresh_token", "refresh_token", token)
}

// claims verifies the signature of a token and returns its claims.
func (i *testIssuer) claims(token string) (all map[string]any) {
	i.t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		i.t.Fatalf("%q is no token", token)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		i.t.Fatalf("the signature has %d bytes, %v", len(signature), err)
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(&i.key.PublicKey, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		i.t.Errorf("the signature of %s is wrong", token)
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(body, &all)
	}
	if err != nil {
		i.t.Fatal(err)
	}
	return all
}

// TestIssuerLogsIn: the page lists the users with what the client asked for, a code becomes
// tokens of the chosen user once, and refresh tokens rotate.
func TestIssuerLogsIn(t *testing.T) {
	t.Parallel()
	i := newTestIssuer(t)
	answer, page := i.get("/authorize?" + asks("state", `"><script>`).Encode())
	if answer.StatusCode != http.StatusOK || strings.Contains(page, "<script>") || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%s %s", answer.Status, page)
	}
	for _, want := range []string{">developer<", ">biller<", ">operator<", ">neighbour<", `name="roles" value="billing"`, `name="nonce" value="n1"`, otherAccount} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	form := asks("user", "biller", "account", otherAccount, "lifetime", "60")
	form["roles"] = []string{"billing", "operator"}
	answer, _ = i.post("/authorize", form)
	got := i.answers(answer)
	if got.Get("state") != "s1" || got.Get("iss") != i.URL {
		t.Errorf("the client gets %v", got)
	}
	tokens := i.redeem(got.Get("code"))
	access, id := i.claims(tokens.Access), i.claims(tokens.ID)
	for claim, want := range map[string]any{
		"iss": i.URL, "aud": audience, "sub": "biller", "token_use": "user", "account_id": otherAccount, "workspaces": "*",
	} {
		if access[claim] != want {
			t.Errorf("the access token has %s %v, want %v", claim, access[claim], want)
		}
	}
	if roles, _ := access["roles"].([]any); len(roles) != 2 || access["exp"].(float64)-access["iat"].(float64) != 60 || tokens.Lasts != 60 {
		t.Errorf("the access token is %v", access)
	}
	if id["aud"] != "netsim-console" || id["nonce"] != "n1" || id["sub"] != "biller" || id["at_hash"] != hashOf(tokens.Access) {
		t.Errorf("the ID token is %v", id)
	}
	fresh := i.refresh(tokens.Refresh)
	if now := i.claims(fresh.Access); now["sub"] != "biller" || now["jti"] == access["jti"] || fresh.Refresh == tokens.Refresh || i.claims(fresh.ID)["nonce"] != nil {
		t.Errorf("the refreshed tokens are %v", fresh)
	}
	if again := i.refresh(fresh.Refresh); again.Error != "" {
		t.Errorf("the second refresh: %v", again)
	}
	if without := i.redeem(i.code("scope", "openid")); without.Refresh != "" || without.ID == "" {
		t.Errorf("without offline_access the client gets %v", without)
	}
}

// TestIssuerUsesSecretsOnce: the second use of a code or of a refresh token is refused and
// ends all that followed from its login, also after a restart of the issuer. So does a
// revocation.
func TestIssuerUsesSecretsOnce(t *testing.T) {
	t.Parallel()
	i := newTestIssuer(t) // reads its file for each request, as after a restart
	const refused = "invalid_grant"
	code := i.code()
	for name, wrong := range map[string][]string{
		"another client":       {"client_id", "other"},
		"another redirect_uri": {"redirect_uri", callback + "/x"},
		"another verifier":     {"code_verifier", verifier + "x"},
		"no verifier":          {"code_verifier", ""},
	} {
		if got := i.redeem(code, wrong...); got.Error != refused {
			t.Errorf("%s: %v", name, got)
		}
	}
	first := i.redeem(code) // wrong requests have not used it up
	if got := i.redeem(code); first.Error != "" || got.Error != refused {
		t.Errorf("the code gives %q and %q", first.Error, got.Error)
	}
	if got := i.refresh(first.Refresh); got.Error != refused {
		t.Errorf("after the second use of the code its refresh token gives %v", got)
	}

	second := i.redeem(i.code())
	third := i.refresh(second.Refresh)
	if got := i.refresh(second.Refresh); got.Error != refused || third.Error != "" {
		t.Errorf("a refresh token gives %q and %q", third.Error, got.Error)
	}
	if got := i.refresh(third.Refresh); got.Error != refused {
		t.Errorf("after the second use of a refresh token the next one gives %v", got)
	}

	fourth := i.redeem(i.code())
	i.post("/revoke", url.Values{"token": {fourth.Refresh}})
	if got := i.refresh(fourth.Refresh); got.Error != refused {
		t.Errorf("a revoked token gives %v", got)
	}
	fifth := i.redeem(i.code())
	if got := i.redeem(fifth.Refresh); got.Error != refused {
		t.Errorf("a refresh token as a code gives %v", got)
	}
	if got := i.refresh(i.code()); got.Error != refused {
		t.Errorf("a code as a refresh token gives %v", got)
	}
	if got := i.token("grant_type", "password"); got.Error != "unsupported_grant_type" {
		t.Errorf("another grant type gives %v", got)
	}
	g := grantsOf(i.dir)
	g.now = func() time.Time { return time.Now().Add(2 * codeLasts) }
	late := i.code()
	if _, err := g.use(late, func(grant) error { return nil }); err == nil {
		t.Error("an expired code is used")
	}
}

// TestIssuerRefuses: the client learns what is wrong, unless it could be another's: then the
// browser stays.
func TestIssuerRefuses(t *testing.T) {
	t.Parallel()
	i := newTestIssuer(t)
	for _, uri := range []string{"https://evil.example/", "//evil.example", "http://127.0.0.1.evil.example/", "", "javascript:alert(1)", callback + "#x"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			answer, _ := i.get("/authorize?" + asks("redirect_uri", uri).Encode())
			if method == http.MethodPost {
				answer, _ = i.post("/authorize", asks("redirect_uri", uri, "user", "ada"))
			}
			if answer.StatusCode != http.StatusBadRequest || answer.Header.Get("Location") != "" {
				t.Errorf("%s to %q: %s, Location %q", method, uri, answer.Status, answer.Header.Get("Location"))
			}
		}
	}
	for want, wrong := range map[string][]string{
		"unsupported_response_type": {"response_type", "token"},
		"invalid_scope":             {"scope", "profile"},
		"invalid_request":           {"code_challenge_method", "plain"},
		"login_required":            {"prompt", "none"},
	} {
		answer, _ := i.get("/authorize?" + asks(wrong...).Encode())
		if got := i.answers(answer); got.Get("error") != want || got.Get("state") != "s1" {
			t.Errorf("%v: the client gets %v", wrong, got)
		}
	}
	answer, _ := i.post("/authorize", asks("refuse", "true"))
	if got := i.answers(answer); got.Get("error") != "access_denied" {
		t.Errorf("the client gets %v", got)
	}
	for _, wrong := range [][]string{{"user", ""}, {"user", "ada", "lifetime", "0"}, {"user", "ada", "lifetime", "x"}} {
		if answer, _ := i.post("/authorize", asks(wrong...)); answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%v: %s", wrong, answer.Status)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, i.URL+"/jwks.json", nil)
	if err == nil {
		request.Host = "evil.example"
	}
	if answer, _ := i.do(request, err); answer.StatusCode != http.StatusForbidden {
		t.Errorf("for another host: %s", answer.Status)
	}
}

// TestIssuerDiscovery: all that the document names is served, and a logout leads back to this
// machine only.
func TestIssuerDiscovery(t *testing.T) {
	t.Parallel()
	i := newTestIssuer(t)
	_, text := i.get("/.well-known/openid-configuration")
	document := map[string]any{}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, value := range document {
		at, is := value.(string)
		if !is || name == "issuer" {
			continue
		}
		names = append(names, name)
		if answer, _ := i.get(strings.TrimPrefix(at, i.URL)); answer.StatusCode == http.StatusNotFound {
			t.Errorf("%s is %s, where nothing is", name, at)
		}
	}
	slices.Sort(names)
	if want := []string{"authorization_endpoint", "device_authorization_endpoint", "end_session_endpoint", "jwks_uri", "revocation_endpoint", "token_endpoint"}; !slices.Equal(names, want) || document["issuer"] != i.URL {
		t.Errorf("the issuer %v has the endpoints %v, want %v", document["issuer"], names, want)
	}
	for back, want := range map[string]string{"http://127.0.0.1:9/console/": "http://127.0.0.1:9/console/", "https://evil.example/": ""} {
		if answer, _ := i.get("/logout?post_logout_redirect_uri=" + url.QueryEscape(back)); answer.Header.Get("Location") != want {
			t.Errorf("the logout leads to %q, want %q", answer.Header.Get("Location"), want)
		}
	}
}
