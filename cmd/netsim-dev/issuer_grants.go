package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// grant is what a person has allowed a client.
type grant struct {
	Login    string   `json:"login"` // all grants that follow from a login have its id
	Client   string   `json:"client"`
	User     string   `json:"user"`
	Account  string   `json:"account"`
	Roles    []string `json:"roles,omitempty"`
	Scope    string   `json:"scope"`
	Nonce    string   `json:"nonce,omitempty"`
	Lifetime int64    `json:"lifetime"` // of access tokens, in seconds

	// Of a code: where it is sent, and the challenge of PKCE.
	Redirect  string `json:"redirect,omitempty"`
	Challenge string `json:"challenge,omitempty"`

	// Of a device: what its user enters, and what the user has decided; "" before.
	UserCode string `json:"userCode,omitempty"`
	Decision string `json:"decision,omitempty"`

	Ends time.Time `json:"ends"` // of the code or the refresh token
	Used bool      `json:"used,omitempty"`
}

// grants are the codes and refresh tokens of the issuer, each of which is used once. They are
// in a file of its directory, so that sessions outlive a restart, by the digest of the code
// or the token. The use of a used one ends everything that follows from its login, as RFC 9700
// section 4.14.2 advises: a client that refreshes twice is noticed.
type grants struct {
	path string
	now  func() time.Time
	mu   sync.Mutex
}

// maxGrants bounds the file.
const maxGrants = 10_000

var errGrant = errors.New("it is unknown, used or expired")

// add stores a grant and returns its code or refresh token.
func (g *grants) add(of grant) (string, error) {
	secret := rand.Text() + rand.Text()
	return secret, g.change(func(all map[string]grant) error {
		if len(all) >= maxGrants {
			return errors.New("the issuer has too many grants; delete " + g.path)
		}
		all[digest(secret)] = of
		return nil
	})
}

// use returns the grant of a code or refresh token, once. The check sees it before: a wrong
// request does not use it up.
func (g *grants) use(secret string, check func(grant) error) (of grant, err error) {
	err = g.change(func(all map[string]grant) error {
		var known bool
		if of, known = all[digest(secret)]; !known || g.now().After(of.Ends) {
			return errGrant
		}
		if of.Used {
			drop(all, of.Login)
			return errUsed
		}
		if err := check(of); err != nil {
			return err
		}
		used := of
		used.Used = true
		all[digest(secret)] = used
		return nil
	})
	if errors.Is(err, errUsed) {
		err = errGrant
	}
	return of, err
}

// errUsed ends a change that is stored although it is refused.
var errUsed = errors.New("it was used")

// revoke ends everything that follows from the login of a refresh token.
func (g *grants) revoke(secret string) error {
	return g.change(func(all map[string]grant) error {
		if of, known := all[digest(secret)]; known {
			drop(all, of.Login)
		}
		return nil
	})
}

func drop(all map[string]grant, login string) {
	maps.DeleteFunc(all, func(_ string, of grant) bool { return of.Login == login })
}

// change changes the file, without what has expired.
func (g *grants) change(do func(map[string]grant) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := map[string]grant{}
	text, err := os.ReadFile(g.path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	maps.DeleteFunc(all, func(_ string, of grant) bool { return g.now().After(of.Ends) })
	done := do(all)
	if done != nil && !errors.Is(done, errUsed) {
		return done
	}
	if text, err = json.Marshal(all); err != nil {
		return err
	}
	if err := os.WriteFile(g.path+".new", text, 0o600); err != nil {
		return err
	}
	return errors.Join(done, os.Rename(g.path+".new", g.path))
}

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64URL(sum[:])
}

func grantsOf(dir string) *grants {
	return &grants{path: filepath.Join(dir, "grants.json"), now: time.Now}
}
