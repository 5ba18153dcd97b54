package main

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	codeLasts    = time.Minute
	idLasts      = 10 * time.Minute
	refreshLasts = 30 * 24 * time.Hour
	defaultTTL   = 3600 // seconds of an access token
	maxTTL       = 86400
)

// provider is an OpenID provider with public clients on this machine: any client id, and any
// redirect URI on a loopback address.
type provider struct {
	name   string
	base   string // where it is served
	signer signer
	grants *grants
	now    func() time.Time
}

func (p provider) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /authorize", p.ask)
	mux.HandleFunc("POST /authorize", p.decide)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("POST /revoke", p.revoke)
	mux.HandleFunc("GET /logout", p.logout)
	mux.HandleFunc("POST /device_authorization", p.beginDevice)
	mux.HandleFunc("GET /device", p.askDevice)
	mux.HandleFunc("POST /device", p.decideDevice)
}

// asked are the parameters of an authorization request that the forms send on.
func asked() []string {
	return []string{"client_id", "redirect_uri", "response_type", "scope", "state", "nonce", "code_challenge", "code_challenge_method"}
}

// ask shows the page on which a person chooses who logs in (RFC 6749 section 4.1.1).
func (p provider) ask(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if p.refuses(w, r, q) {
		return
	}
	request := url.Values{}
	for _, name := range asked() {
		if q.Has(name) {
			request.Set(name, q.Get(name))
		}
	}
	show(w, http.StatusOK, pageData{
		Title: "Log in to netsim", Action: "/authorize", Request: request,
		People: people(), Client: q.Get("client_id"), Account: defaultAccount,
	})
}

// decide sends the code of the chosen user to the client (RFC 6749 section 4.1.2).
func (p provider) decide(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := r.PostForm
	if p.refuses(w, r, q) {
		return
	}
	if q.Get("refuse") != "" {
		p.answer(w, r, q, url.Values{"error": {"access_denied"}})
		return
	}
	of, ok := chosen(w, q)
	if !ok {
		return
	}
	of.Login, of.Client, of.Scope, of.Nonce = rand.Text(), q.Get("client_id"), q.Get("scope"), q.Get("nonce")
	of.Redirect, of.Challenge, of.Ends = q.Get("redirect_uri"), q.Get("code_challenge"), p.now().Add(codeLasts)
	code, err := p.grants.add(of)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	p.answer(w, r, q, url.Values{"code": {code}})
}

// chosen returns a grant with the user of a form. It answers a wrong form.
func chosen(w http.ResponseWriter, form url.Values) (of grant, ok bool) {
	lifetime, err := strconv.ParseInt(cmp.Or(form.Get("lifetime"), strconv.Itoa(defaultTTL)), 10, 64)
	if err != nil || lifetime < 1 || lifetime > maxTTL || form.Get("user") == "" {
		show(w, http.StatusBadRequest, pageData{Title: "No login", Message: "A user has a name, and access tokens last from 1 to 86400 seconds."})
		return of, false
	}
	return grant{User: form.Get("user"), Account: cmp.Or(form.Get("account"), defaultAccount), Roles: form["roles"], Lifetime: lifetime}, true
}

// refuses answers a wrong authorization request, and reports whether it has. While the
// redirect URI may be another client's, the person sees the error (RFC 6749 section 4.1.2.1).
func (p provider) refuses(w http.ResponseWriter, r *http.Request, q url.Values) bool {
	to, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || !isLoopback(to.Host) || to.Fragment != "" || q.Get("client_id") == "" {
		show(w, http.StatusBadRequest, pageData{Title: "No login", Message: "The client must have a client_id, and a redirect_uri on this machine."})
		return true
	}
	problem := ""
	switch {
	case q.Get("response_type") != "code":
		problem = "unsupported_response_type"
	case !slices.Contains(strings.Fields(q.Get("scope")), "openid"):
		problem = "invalid_scope"
	case q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43:
		problem = "invalid_request" // RFC 7636 section 4.4.1
	case q.Get("prompt") == "none":
		problem = "login_required"
	default:
		return false
	}
	p.answer(w, r, q, url.Values{"error": {problem}})
	return true
}

// answer sends the browser back to the client.
func (p provider) answer(w http.ResponseWriter, r *http.Request, q, with url.Values) {
	to, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	with.Set("iss", p.name) // RFC 9207
	if q.Has("state") {
		with.Set("state", q.Get("state"))
	}
	all := to.Query()
	for name, values := range with {
		all[name] = values
	}
	to.RawQuery = all.Encode()
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

// token gives tokens for a code or a refresh token (RFC 6749 sections 4.1.3 and 6).
func (p provider) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		refuseToken(w, "invalid_request", err)
		return
	}
	form := r.PostForm
	client := form.Get("client_id")
	if basic, _, ok := r.BasicAuth(); ok {
		client = basic
	}
	var of grant
	var err error
	switch form.Get("grant_type") {
	case "authorization_code":
		of, err = p.grants.use(form.Get("code"), func(of grant) error {
			sum := sha256.Sum256([]byte(form.Get("code_verifier")))
			proves := subtle.ConstantTimeCompare([]byte(base64URL(sum[:])), []byte(of.Challenge)) == 1
			if of.Challenge == "" || of.Client != client || of.Redirect != form.Get("redirect_uri") || !proves {
				return errors.New("it is of another client, redirect_uri or code_verifier")
			}
			return nil
		})
	case "refresh_token":
		of, err = p.grants.use(form.Get("refresh_token"), func(of grant) error {
			if of.Challenge != "" || of.UserCode != "" || of.Client != client {
				return errors.New("it is of another client")
			}
			return nil
		})
		of.Nonce = "" // an ID token of a refresh should have none (OpenID Connect Core 1.0 section 12.2)
	case deviceGrant:
		of, err = p.device(form.Get("device_code"), client)
	default:
		refuseToken(w, "unsupported_grant_type", errors.New("grant_type must be authorization_code, refresh_token or "+deviceGrant))
		return
	}
	if waits, is := errors.AsType[deviceError](err); is {
		refuseToken(w, string(waits), waits)
		return
	}
	if err != nil {
		refuseToken(w, "invalid_grant", err)
		return
	}
	answer, err := p.tokens(of)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

func refuseToken(w http.ResponseWriter, code string, why error) {
	writeJSON(w, http.StatusBadRequest, map[string]string{"error": code, "error_description": why.Error()})
}

// tokens makes the tokens of a grant. There is a refresh token for the scope offline_access.
func (p provider) tokens(of grant) (map[string]any, error) {
	now := p.now()
	claims := map[string]any{ // those of infra/devissuer
		"iss": p.name, "aud": audience, "sub": of.User, "name": of.User, "jti": rand.Text(), "iat": now.Unix(),
		"exp": now.Unix() + of.Lifetime, "token_use": "user", "account_id": of.Account, "account_name": of.Account, "workspaces": "*",
		"client_id": of.Client, "scope": of.Scope,
	}
	if of.Account == defaultAccount {
		claims["account_name"] = "default"
	}
	if len(of.Roles) > 0 {
		claims["roles"] = of.Roles
	}
	access, err := p.signer.sign(claims)
	if err != nil {
		return nil, err
	}
	about := map[string]any{
		"iss": p.name, "aud": of.Client, "azp": of.Client, "sub": of.User, "name": of.User, "iat": now.Unix(), "exp": now.Add(idLasts).Unix(),
		"at_hash": hashOf(access),
	}
	if of.Nonce != "" {
		about["nonce"] = of.Nonce
	}
	id, err := p.signer.sign(about)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": of.Lifetime, "id_token": id, "scope": of.Scope}
	if slices.Contains(strings.Fields(of.Scope), "offline_access") {
		of = grant{
			Login: of.Login, Client: of.Client, User: of.User, Account: of.Account, Roles: of.Roles, Scope: of.Scope, Lifetime: of.Lifetime,
			Ends: now.Add(refreshLasts),
		}
		if answer["refresh_token"], err = p.grants.add(of); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// revoke ends what follows from the login of a refresh token (RFC 7009). An unknown token is
// no error.
func (p provider) revoke(w http.ResponseWriter, r *http.Request) {
	if err := p.grants.revoke(r.PostFormValue("token")); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// logout sends the browser back to the client (OpenID Connect RP-Initiated Logout 1.0). The
// issuer itself knows no logged-in users.
func (p provider) logout(w http.ResponseWriter, r *http.Request) {
	back := r.URL.Query().Get("post_logout_redirect_uri")
	if to, err := url.Parse(back); err != nil || !isLoopback(to.Host) || to.Scheme != "http" && to.Scheme != "https" {
		show(w, http.StatusOK, pageData{Title: "Logged out", Message: "The issuer of a development machine keeps nobody logged in."})
		return
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}
