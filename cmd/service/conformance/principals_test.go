package conformance_test

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// principal is a sender of requests, with what the service must make of it.
type principal struct {
	name   string
	token  string
	scheme string // of the header Authorization; default Bearer
	is     standing
	user   bool     // may not use service operations
	roles  []string // of the token
}

// standing says how a principal stands to the resources of a private workspace.
type standing int

const (
	unknown  standing = iota // without a valid token: 401
	stranger                 // of another account: 404
	excluded                 // of the account, but no member of the workspace: 403
	admitted
)

// TestEveryPrincipalOnEveryRoute sends every operation about the resources of a private
// workspace as each principal. It sends no writes as those who may do them.
func TestEveryPrincipalOnEveryRoute(t *testing.T) {
	w := newWorld(t, servicetest.Start(t, func(c *settings.Config) { c.ResultsOwnership = true }))
	private := w.newPrivate(t)
	before := private.state(t, w)
	all := w.principals(t)
	if len(all) < 50 {
		t.Errorf("%d principals, want 50", len(all))
	}
	t.Run("requests", func(t *testing.T) {
		each(t, every, func(t *testing.T, op operation) {
			r, about := private.request(w, op)
			for _, p := range all {
				want, writes := p.verdict(op, about), op.writes()
				if want == 0 && writes {
					continue // it would be done
				}
				reply := r.send(w.program.Bearer(t, p.token), p.headers()...)
				switch {
				case want != 0 && reply.Status != want:
					t.Errorf("%s: got %d %s, want %d", p.name, reply.Status, reply.Body, want)
				case want == 0 && about && (reply.Status == 401 || reply.Status == 403 || reply.Status == 404):
					t.Errorf("%s: got %d %s, want to be admitted", p.name, reply.Status, reply.Body)
				case p.operates(op):
				case p.is == stranger, p.is == excluded && !op.bills():
					for _, id := range private.ids {
						if bytes.Contains(reply.Body, []byte(id)) && !strings.Contains(r.target(), id) && want == 0 {
							t.Errorf("%s: sees %s in %s", p.name, id, reply.Body)
						}
					}
				}
			}
		})
	})
	if after := private.state(t, w); after != before {
		t.Errorf("a refused request changed something: before\n%s\nafter\n%s", before, after)
	}
}

// verdict returns the status that the principal must get, or 0 where it is admitted or
// the operation concerns no resource of the private workspace.
func (p principal) verdict(op operation, about bool) int {
	switch {
	case p.is == unknown:
		return http.StatusUnauthorized
	case p.user && op.service && !slices.Contains(p.roles, op.role),
		op.operator && !slices.Contains(p.roles, "operator"):
		return http.StatusForbidden
	case op.operator || !about || p.operates(op) || p.is == admitted || p.is == excluded && op.bills():
		return 0
	case p.is == stranger:
		return http.StatusNotFound
	}
	return http.StatusForbidden
}

// operates reports whether the principal is an operator, who reads the facts of every account.
func (p principal) operates(op operation) bool {
	return slices.Contains(p.roles, "operator") && (op.id == "GetStream" || op.id == "ListCauses")
}

// bills reports whether the operation reads billing, which belongs to the whole account.
func (op operation) bills() bool { return strings.HasPrefix(op.path, "/api/v1/billing/") }

func (p principal) headers() []servicetest.Header {
	if p.scheme == "" {
		return nil
	}
	return []servicetest.Header{{Name: "Authorization", Value: p.scheme + p.token}}
}

// principals returns the senders that differ in what decides about access.
func (w *world) principals(t *testing.T) []principal {
	t.Helper()
	issuer := teststack.Issuer(t)
	elsewhere, other := w.newWorkspace(t), servicetest.NewAccount()
	token := func(o devissuer.Options) string {
		if o.Account == "" {
			o.Account = w.account
		}
		return issuer.Token(o)
	}
	claims := func(name string, value any) string {
		return token(devissuer.Options{Service: true, Claims: map[string]any{name: value}})
	}
	valid := claims("x", "y")
	parts := strings.Split(valid, ".")
	changed := func(i int, text string) string {
		all := append([]string(nil), parts...)
		all[i] = text
		return strings.Join(all, ".")
	}
	encoded := base64.RawURLEncoding.EncodeToString
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	var header map[string]any
	head, _ := base64.RawURLEncoding.DecodeString(parts[0])
	if err := json.Unmarshal(head, &header); err != nil {
		t.Fatal(err)
	}
	id, _ := header["kid"].(string)
	stolen := bytes.Replace(payload, []byte(w.account), []byte(other), 1)
	named := func(o devissuer.Options, workspaces ...string) string {
		o.Workspaces = workspaces
		return token(o)
	}
	user := func(claims map[string]any) string { return token(devissuer.Options{User: "tester", Claims: claims}) }
	roles := func(is standing, o devissuer.Options, roles ...string) principal {
		o.Roles = roles
		name := fmt.Sprintf("%s of %s with the roles %q", cmp.Or(o.User, "a service"), cmp.Or(o.Account, "the account"), roles)
		return principal{name: name, is: is, user: !o.Service, roles: roles, token: token(o)}
	}
	foreign := func(claims map[string]any) string {
		return token(devissuer.Options{User: "tester", Account: other, Claims: claims})
	}
	return []principal{
		{name: "nobody"},
		{name: "an empty token", scheme: "Bearer "},
		{name: "another scheme", token: valid, scheme: "Basic "},
		{name: "no scheme", token: valid, scheme: " "},
		{name: "not a token", token: "malformed"},
		{name: "three empty parts", token: ".."},
		{name: "a token of two parts", token: parts[0] + "." + parts[1]},
		{name: "an expired token", token: token(devissuer.Options{Service: true, TTL: -time.Hour})},
		{name: "a token of tomorrow", token: claims("nbf", time.Now().Add(24*time.Hour).Unix())},
		{name: "a token without an end", token: claims("exp", nil)},
		{name: "another audience", token: claims("aud", "another")},
		{name: "no audience", token: claims("aud", nil)},
		{name: "another issuer", token: claims("iss", "https://elsewhere.example")},
		{name: "no issuer", token: claims("iss", nil)},
		{name: "no subject", token: claims("sub", nil)},
		{name: "no account", token: claims("account_id", nil)},
		{name: "an account that is none", token: claims("account_id", "acct_1")},
		{name: "workspaces that are none", token: claims("workspaces", []string{"workspace_1"})},
		{name: "a user of every account", token: user(map[string]any{"account_id": "*"})},
		{name: "a user of every account with every role", token: user(map[string]any{"account_id": "*", "roles": []string{"billing", "operator"}})},
		{name: "roles that are none", token: claims("roles", map[string]any{"billing": true})},
		{name: "an unsigned token", token: encoded([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + parts[1] + "."},
		{name: "a signature that is empty", token: changed(2, "")},
		{name: "another account, by changing the token", token: changed(1, encoded(stolen))},
		{name: "another header", token: changed(0, encoded([]byte(`{"alg":"RS256","kid":"`+id+`","typ":"JWT"}`)))},
		{name: "signed with the id of the key as a secret", token: signed(t, jose.HS256, bytes.Repeat([]byte(id+"-"), 32), id, payload)},
		{name: "signed with another key of the same id", token: signed(t, jose.ES256, newKey(t), id, payload)},
		{name: "signed with an unknown key", token: signed(t, jose.ES256, newKey(t), "unknown", payload)},

		{name: "a service of another account", is: stranger, token: token(devissuer.Options{Service: true, Account: other})},
		{name: "a service of another account that names the workspace", is: stranger, token: named(devissuer.Options{Service: true, Account: other}, w.workspace)},
		{name: "a user of another account", is: stranger, user: true, token: foreign(nil)},
		{name: "a user of another account that names the workspace", is: stranger, user: true, token: foreign(map[string]any{"workspaces": []string{w.workspace}})},
		{name: "a user of another account without workspaces", is: stranger, user: true, token: foreign(map[string]any{"workspaces": nil})},
		{name: "a user of another account with the owner's name and subject", is: stranger, user: true, token: foreign(map[string]any{"sub": "robot", "name": "robot"})},
		{name: "a user of another account that calls it this account", is: stranger, user: true, token: foreign(map[string]any{"account_name": w.account})},

		{name: "a service of other workspaces", is: excluded, token: named(devissuer.Options{Service: true}, elsewhere)},
		{name: "a user of other workspaces", is: excluded, user: true, token: named(devissuer.Options{}, elsewhere)},
		{name: "a user of the built-in workspaces", is: excluded, user: true, token: named(devissuer.Options{}, events.DefaultWorkspace)},
		{name: "a user of no workspace", is: excluded, user: true, token: user(map[string]any{"workspaces": []string{}})},
		{name: "the owner without the claim", is: excluded, user: true, token: token(devissuer.Options{User: "robot", Claims: map[string]any{"workspaces": nil}})},

		{name: "a service of the account", is: admitted, token: token(devissuer.Options{Service: true})},
		{name: "a user of the account", is: admitted, user: true, token: user(nil)},
		{name: "a user of the workspace", is: admitted, user: true, token: named(devissuer.Options{User: "tester"}, w.workspace)},
		{name: "a user of several workspaces", is: admitted, user: true, token: named(devissuer.Options{User: "tester"}, elsewhere, w.workspace)},
		{name: "a use of the token that is none", is: admitted, user: true, token: user(map[string]any{"token_use": "Service"})},
		roles(stranger, devissuer.Options{User: "tester", Account: other}, "billing"),
		roles(stranger, devissuer.Options{User: "tester", Account: other}, "billing", "operator"),
		roles(stranger, devissuer.Options{Service: true, Account: other}, "billing", "operator"),
		roles(excluded, devissuer.Options{User: "tester", Workspaces: []string{elsewhere}}, "billing"),
		roles(admitted, devissuer.Options{User: "tester"}, "billing"),
		roles(admitted, devissuer.Options{User: "tester"}, "operator"),
		roles(admitted, devissuer.Options{User: "tester"}, "billing", "operator"),
		roles(admitted, devissuer.Options{User: "tester"}, "Billing", "service", "*"),
		roles(admitted, devissuer.Options{Service: true}, "operator"),
		{name: "a service of every account", is: admitted, token: token(devissuer.Options{Service: true, Account: "*"})},
	}
}

// signed returns a token with the payload, signed by another than the issuer.
func signed(t *testing.T, algorithm jose.SignatureAlgorithm, key any, id string, payload []byte) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", id))
	if err != nil {
		t.Fatal(err)
	}
	object, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
