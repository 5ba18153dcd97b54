package login

import (
	"cmp"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/auth"
	"netsim/infra/web"
)

// Config says where the console is, and how people log in to it. Every field is required
// that is not said to be optional.
type Config struct {
	URL         string // by which browsers reach the service, without a slash at its end
	ObjectStore string // the origin of the store, to which browsers send and from which they load; may be ""
	Release     string // of the service

	Issuer       string            // the claim iss
	Discovery    string            // URL of its discovery document; "" for the usual one
	ClientID     string            // of the console
	ClientSecret string            // "" for a public client
	Scopes       []string          // that a login asks for
	Parameters   map[string]string // further ones that begin a login

	Life, Idle time.Duration // of a session, and without a request
	PerUser    int           // sessions
	Watch      time.Duration // how often the session of an event stream is checked

	Secrets  [][]byte // from which the keys are derived that seal tokens, newest first
	Pool     *pgxpool.Pool
	Verifier *auth.Verifier
	Client   *http.Client // for the issuer
	Now      func() time.Time
	Log      *slog.Logger
	Fail     web.FailFunc // may be set later, before the first request
}

// Login serves the logins and the sessions of browsers.
type Login struct {
	Config
	prefix   string // of the paths that browsers use; "" without one
	cookie   cookies
	issuer   *issuer
	sessions *sessions
	pending  *web.Cursors // seals what a login remembers
}

// loginTime is how long a person may take to log in at the issuer.
const loginTime = 10 * time.Minute

// New returns a Login. It contacts nobody.
func New(c Config) (*Login, error) {
	at, err := url.Parse(c.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL of the console: %w", err)
	}
	var keys [][]byte
	for _, secret := range c.Secrets {
		key, err := hkdf.Key(sha256.New, secret, nil, "netsim sessions of the console", 32)
		if err != nil {
			return nil, fmt.Errorf("derive a key: %w", err)
		}
		keys = append(keys, key)
	}
	ring, err := web.NewRing(keys)
	if err != nil {
		return nil, fmt.Errorf("the keys of sessions: %w", err)
	}
	pending, err := web.NewCursors(keys, c.Now)
	if err != nil {
		return nil, err
	}
	l := &Login{Config: c, prefix: at.Path, cookie: newCookies(at), pending: pending.Lasting(loginTime)}
	l.issuer = &issuer{
		name: c.Issuer, discovery: cmp.Or(c.Discovery, auth.DiscoveryOf(c.Issuer)), client: c.Client, now: c.Now,
		id: c.ClientID, secret: c.ClientSecret, scopes: c.Scopes, redirect: c.URL + "/console/callback", parameters: c.Parameters,
	}
	l.sessions = &sessions{
		db: c.Pool, ring: ring, issuer: l.issuer, verifier: c.Verifier, now: c.Now, log: c.Log,
		life: c.Life, idle: c.Idle, perUser: c.PerUser,
	}
	return l, nil
}

// Prefix returns what browsers have before the paths of the service, "" for nothing.
func (l *Login) Prefix() string { return l.prefix }

// home is the path of the console as browsers see it.
func (l *Login) home() string { return l.prefix + "/console/" }
