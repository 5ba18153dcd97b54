package login

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"netsim/fault"
)

// secretSize is the size of the value of a cookie in bytes.
const secretSize = 32

// cookies names and makes the cookies of a console. On HTTPS the names have the prefix
// __Host-, so that no other host and no page without TLS can set them; it demands the path /.
// A digest of the console's URL is in the names, because consoles on one host must not
// overwrite each other's cookies, and a browser does not tell ports apart.
type cookies struct {
	secure  bool
	session string // name of the cookie of a session
	pending string // what the names of the cookies of logins begin with
	path    string
}

func newCookies(console *url.URL) cookies {
	c := cookies{secure: console.Scheme == "https", path: console.Path + "/console"}
	sum := sha256.Sum256([]byte(console.String()))
	name := "netsim-" + hex.EncodeToString(sum[:4])
	if c.secure {
		name, c.path = "__Host-"+name, "/"
	}
	c.session, c.pending = name, name+"-login-"
	return c
}

func (c *cookies) make(name, value string, lasts time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: c.path, MaxAge: int(lasts.Seconds()),
		Secure: c.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// ended returns a cookie that makes the browser delete its one.
func (c *cookies) ended(name string) *http.Cookie {
	ended := c.make(name, "", 0)
	ended.MaxAge = -1
	return ended
}

// pendingName returns the name of the cookie of the login with this state. A browser can have
// several, because all its tabs begin a login when a session ends.
func (c *cookies) pendingName(state string) string {
	sum := sha256.Sum256([]byte(state))
	return c.pending + hex.EncodeToString(sum[:8])
}

// maxPending is how many logins a browser can have begun and not finished. Beyond it they are
// forgotten, so that the cookies do not fill the headers of requests.
const maxPending = 8

// forgetPending deletes the cookies of all logins if there are too many.
func (c *cookies) forgetPending(w http.ResponseWriter, r *http.Request) {
	var names []string
	for _, each := range r.Cookies() {
		if strings.HasPrefix(each.Name, c.pending) {
			names = append(names, each.Name)
		}
	}
	if len(names) < maxPending {
		return
	}
	for _, name := range names {
		http.SetCookie(w, c.ended(name))
	}
}

// newSecret returns a new value for a cookie of a session.
func newSecret() string { return base64.RawURLEncoding.EncodeToString(randomBytes()) }

func randomBytes() []byte {
	secret := make([]byte, secretSize)
	rand.Read(secret) //nolint:errcheck // never fails
	return secret
}

// sessionOf returns what the row of the session is found by: the digest of the request's
// cookie. The error is Unauthorized without a cookie.
func (c *cookies) sessionOf(r *http.Request) ([]byte, error) {
	cookie, err := r.Cookie(c.session)
	if err != nil {
		return nil, errNoSession()
	}
	return digestOf(cookie.Value)
}

func digestOf(value string) ([]byte, error) {
	secret, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(secret) != secretSize {
		return nil, errNoSession()
	}
	sum := sha256.Sum256(secret)
	return sum[:], nil
}

// errNoSession returns the error of a request without a session.
func errNoSession() error {
	return fault.New(fault.Unauthorized, "there is no session, or it has ended; log in")
}
