package broker_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"netsim/infra/broker"
)

var quiet = slog.New(slog.DiscardHandler)

const (
	robot    = "robot" // the subject of OAuth tokens, may do everything
	password = "hidden,pass=word"
)

// tokenIssuer is a token endpoint for client credentials (RFC 6749 section 4.4), which
// publishes its keys.
type tokenIssuer struct {
	url    string
	signer jose.Signer
	issued atomic.Int64
	life   atomic.Int64 // seconds
	broken atomic.Bool  // refuses every request
}

func newTokenIssuer(t *testing.T) *tokenIssuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public := jose.JSONWebKey{Key: key.Public(), KeyID: "one", Algorithm: "ES256", Use: "sig"}
	i := &tokenIssuer{}
	i.life.Store(600)
	if i.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "one"}}, nil); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}})
	})
	mux.HandleFunc("POST /token", i.answer)
	i.url = httptest.NewServer(mux).URL // runs until the process ends, as Kafka does
	return i
}

func (i *tokenIssuer) client() broker.OAuth {
	return broker.OAuth{TokenURL: i.url + "/token", ClientID: robot, ClientSecret: password, Scope: "kafka"}
}

func (i *tokenIssuer) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	user, secret, _ := r.BasicAuth()
	if i.broken.Load() || user != robot || secret != "hidden%2Cpass%3Dword" || r.FormValue("grant_type") != "client_credentials" {
		w.WriteHeader(http.StatusUnauthorized)
		json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client", "error_description": "the secret is " + secret})
		return
	}
	json.NewEncoder(w).Encode(map[string]any{
		"access_token": i.mint(robot, time.Now().Add(time.Duration(i.life.Load())*time.Second)), "token_type": "Bearer",
		"expires_in": i.life.Load(),
	})
}

// mint returns a token.
func (i *tokenIssuer) mint(subject string, until time.Time) string {
	i.issued.Add(1)
	token, err := jwt.Signed(i.signer).Claims(jwt.Claims{
		Issuer: i.url, Subject: subject, Audience: jwt.Audience{"kafka"},
		IssuedAt: jwt.NewNumericDate(time.Now().Add(-time.Minute)), Expiry: jwt.NewNumericDate(until),
	}).Claims(map[string]any{"scope": "kafka"}).Serialize()
	if err != nil {
		panic(err)
	}
	return token
}
