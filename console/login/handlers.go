package login

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"netsim/fault"
	"netsim/infra/auth"
	"netsim/infra/web"
)

// pending is what a login remembers until the issuer sends the browser back.
type pending struct {
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // of PKCE
	Next     string `json:"next"`
}

// Begin sends the browser to the issuer: GET /console/login?next=PATH.
func (l *Login) Begin(w http.ResponseWriter, r *http.Request) {
	next, err := l.next(r.URL.Query())
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	if to := l.otherLoopback(r); to != "" {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	p := pending{Nonce: newSecret(), Verifier: oauth2.GenerateVerifier(), Next: next}
	state := newSecret()
	to, err := l.issuer.beginURL(r.Context(), state, p)
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	text, err := json.Marshal(p)
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	l.cookie.forgetPending(w, r)
	http.SetCookie(w, l.cookie.make(l.cookie.pendingName(state), l.pending.Seal(pendingBinding(state), text), loginTime))
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func pendingBinding(state string) []byte { return web.Binding("console login", state) }

// maxNext is the size of the parameter next, in bytes.
const maxNext = 700

// next returns where the browser goes after its login: a path of the console. Anything else
// could be another site's, to which a link to this one would lead.
func (l *Login) next(q url.Values) (string, error) {
	bad := func() (string, error) {
		return "", fault.New(fault.Validation, "next must be one path below %s, of at most %d bytes, got %.100q", l.home(), maxNext, q["next"])
	}
	for name := range q {
		if name != "next" {
			return "", fault.New(fault.Validation, "the parameter %.100q is unknown; only next is allowed", name)
		}
	}
	if len(q["next"]) == 0 {
		return l.home(), nil
	}
	next := q.Get("next")
	to, err := url.Parse(next)
	if len(q["next"]) > 1 || len(next) > maxNext || err != nil || to.Scheme != "" || to.Host != "" || to.User != nil || to.Opaque != "" {
		return bad()
	}
	if strings.ContainsFunc(next, func(c rune) bool { return c <= ' ' || c == '\\' || c == 0x7f }) || strings.Contains(to.Path, "//") {
		return bad()
	}
	page, inside := strings.CutPrefix(to.Path, l.home())
	first, _, _ := strings.Cut(page, "/")
	ours := []string{"api", "assets", "callback", "login", "logout", "session"} // no pages
	if !inside || path.Clean(to.Path) != strings.TrimSuffix(to.Path, "/") || slices.Contains(ours, first) {
		return bad()
	}
	return next, nil
}

// otherLoopback returns the URL of the console if the browser came by another name of this
// machine than that of the setting: it would not send its cookie with the issuer's answer.
func (l *Login) otherLoopback(r *http.Request) string {
	at, err := url.Parse(l.URL)
	if err != nil || r.Host == at.Host {
		return ""
	}
	loopback := func(host string) bool {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		return host == "localhost" || ip != nil && ip.IsLoopback()
	}
	_, port, _ := net.SplitHostPort(r.Host)
	if !loopback(r.Host) || !loopback(at.Host) || port != at.Port() {
		return ""
	}
	return l.URL + "/console/login?" + r.URL.RawQuery
}

// Finish ends a login to which the issuer answers: GET /console/callback.
func (l *Login) Finish(w http.ResponseWriter, r *http.Request) {
	next, err := l.finish(w, r)
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (l *Login) finish(w http.ResponseWriter, r *http.Request) (next string, err error) {
	q := r.URL.Query()
	state := q.Get("state")
	name := l.cookie.pendingName(state)
	cookie, err := r.Cookie(name)
	if state == "" || err != nil {
		return "", fault.New(fault.Validation, "this login was begun in another browser, or has ended; log in again")
	}
	text, err := l.pending.Open(pendingBinding(state), cookie.Value)
	if err != nil {
		return "", fault.New(fault.Validation, "this login was begun more than %v ago; log in again", loginTime)
	}
	http.SetCookie(w, l.cookie.ended(name)) // it is used once
	var p pending
	if err := json.Unmarshal(text, &p); err != nil {
		return "", err
	}
	if from := q.Get("iss"); from != "" && from != l.Issuer { // RFC 9207
		return "", fault.New(fault.Validation, "the answer is from another issuer than that of this service; log in again")
	}
	if why := q.Get("error"); why != "" {
		return "", refusal(why)
	}
	got, err := l.issuer.exchange(r.Context(), q.Get("code"), p.Verifier)
	if err != nil {
		return "", l.unlessRefused(r.Context(), err)
	}
	err = l.Verifier.VerifyLogin(r.Context(), auth.Login{IDToken: got.ID, AccessToken: got.Access, ClientID: l.ClientID, Nonce: p.Nonce})
	if err != nil {
		return "", err
	}
	former, err := l.cookie.sessionOf(r)
	if err != nil {
		former = nil // it has none
	}
	secret := newSecret()
	hash, err := digestOf(secret)
	if err != nil {
		return "", err
	}
	caller, err := l.sessions.begin(r.Context(), hash, former, got)
	if err != nil {
		return "", err
	}
	web.NoteCaller(r.Context(), caller.AccountID, caller.UserID)
	http.SetCookie(w, l.cookie.make(l.cookie.session, secret, l.Life))
	return p.Next, nil
}

// refusal returns the error for what an issuer answers in place of a code (RFC 6749 section
// 4.1.2.1). The browser brings it, so it is shown only if it looks like such an answer.
func refusal(why string) error {
	if !regexp.MustCompile(`^[a-z_]{1,40}$`).MatchString(why) {
		why = "with an unknown error"
	}
	switch why {
	case "temporarily_unavailable", "server_error":
		return &fault.Fault{Code: fault.Unavailable, Message: "the issuer cannot log in anybody now: " + why, RetryAfter: retryIssuer}
	}
	return fault.New(fault.Forbidden, "the issuer refuses the login: %s", why)
}

// unlessRefused returns the error for a code that the issuer refuses, and other errors as
// they are.
func (l *Login) unlessRefused(ctx context.Context, err error) error {
	if !isRefused(err) {
		return err
	}
	l.Log.InfoContext(ctx, "the issuer refuses the code of a login", "reason", err)
	return fault.New(fault.Forbidden, "the issuer refuses the code of this login, which may have been used; log in again")
}

// answer is the body of GET /console/session.
type answer struct {
	User        named     `json:"user"`
	Account     named     `json:"account"`
	Workspaces  any       `json:"workspaces"` // "*" or a list
	Roles       []string  `json:"roles"`
	Expires     time.Time `json:"expires"` // without any further request
	ObjectStore *string   `json:"objectStore"`
	Release     string    `json:"release"`
}

type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Show tells the application who is logged in: GET /console/session.
func (l *Login) Show(w http.ResponseWriter, r *http.Request) {
	found, err := l.used(r)
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	caller, err := l.Verifier.Verify(r.Context(), found.tokens.Access)
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	web.NoteCaller(r.Context(), caller.AccountID, caller.UserID)
	a := answer{
		User: named{caller.UserID, caller.UserName}, Account: named{caller.AccountID, caller.AccountName},
		Workspaces: caller.Workspaces, Roles: caller.Roles(), Expires: found.ExpiresAt.UTC().Truncate(time.Second), Release: l.Release,
	}
	switch {
	case caller.AllWorkspaces:
		a.Workspaces = "*"
	case caller.Workspaces == nil:
		a.Workspaces = []string{}
	}
	if l.ObjectStore != "" {
		a.ObjectStore = &l.ObjectStore
	}
	l.send(w, r, a)
}

// End logs the browser out: POST /console/logout. It answers with the URL at which the person
// can log out of the issuer too, or null. A browser without a session gets the same.
func (l *Login) End(w http.ResponseWriter, r *http.Request) {
	var body struct {
		EndSession *string `json:"endSession"`
	}
	end := ""
	hash, err := l.cookie.sessionOf(r)
	if err == nil {
		end, err = l.end(r.Context(), hash)
	}
	if err != nil && !fault.Is(err, fault.Unauthorized) {
		l.refuse(w, r, err)
		return
	}
	http.SetCookie(w, l.cookie.ended(l.cookie.session))
	if end != "" {
		body.EndSession = &end
	}
	l.send(w, r, body)
}

func (l *Login) end(ctx context.Context, hash []byte) (string, error) {
	ended, err := l.sessions.logout(ctx, hash)
	if err != nil {
		return "", err
	}
	old, err := l.sessions.open(ended)
	if err != nil {
		return "", err
	}
	if err := l.issuer.revoke(ctx, old.tokens); err != nil {
		l.Log.WarnContext(ctx, "the refresh token of a session that has ended was not revoked", "error", err)
	}
	return l.issuer.endURL(ctx, old.tokens, l.URL+"/console/"), nil
}

func (l *Login) send(w http.ResponseWriter, r *http.Request, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(text, '\n')) //nolint:errcheck // the browser has left
}
