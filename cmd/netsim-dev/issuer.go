package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// audience is the audience of the local issuer's tokens.
const audience = "netsim"

// startIssuer serves the local OIDC issuer, at which people log in to the console under any
// name. "netsim token" (infra/devissuer) mints tokens from the same directory. They share
// these files:
//
//	url        the issuer's name, written once by startIssuer; the claim iss of tokens
//	keys.json  the private keys, written by devissuer whenever it makes a key
//	jwks.json  their public halves, written by devissuer too
//
// The issuer's own file grants.json has the digests of codes and refresh tokens.
//
// The name is the address of the first start. Later starts use the same port if it
// is free. If it is not, tokens still stay valid: the service gets the name and
// the address of the keys as two settings.
func startIssuer(o options, dir string) (*server, error) {
	listener, name, err := listenAsIssuer(o.listen, filepath.Join(dir, "url"))
	if err != nil {
		return nil, err
	}
	base := "http://" + listener.Addr().String()
	web := &http.Server{
		Handler:           issuerHandler(dir, name, base),
		ReadHeaderTimeout: 5 * time.Second,
	}
	go web.Serve(listener)
	return &server{
		endpoint: endpoint{
			Addr: listener.Addr().String(), URL: base, PID: os.Getpid(),
			Issuer: name, JWKSURL: base + "/jwks.json", Audience: audience,
		},
		stop: web.Close,
	}, nil
}

// listenAsIssuer opens the issuer's listener and returns the issuer's name, which
// is stored in the file. Unless --listen has a port, the name's port is tried first.
func listenAsIssuer(listen, file string) (net.Listener, string, error) {
	addr, err := address(listen)
	if err != nil {
		return nil, "", err
	}
	name, err := readOrCreate(file, func() string { return "http://" + addr })
	if err != nil {
		return nil, "", err
	}
	if portOf(listen) == 0 {
		if l, err := net.Listen("tcp", strings.TrimPrefix(name, "http://")); err == nil {
			return l, name, nil
		}
	}
	l, err := net.Listen("tcp", addr)
	return l, name, err
}

// issuerHandler serves the issuer whose directory is dir: OpenID Connect's code flow with PKCE
// and refresh tokens (provider), and the public keys.
func issuerHandler(dir, name, base string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, discovery(name, base))
	})
	mux.HandleFunc("GET /jwks.json", func(w http.ResponseWriter, r *http.Request) {
		keys, err := os.ReadFile(filepath.Join(dir, "jwks.json"))
		if errors.Is(err, fs.ErrNotExist) {
			keys = []byte(`{"keys":[]}`) // no token has been minted yet
		} else if err != nil {
			http.Error(w, "the keys cannot be read", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(keys)
	})
	p := provider{name: name, base: base, signer: signer{dir}, grants: grantsOf(dir), now: time.Now}
	p.routes(mux)
	return onLoopback(mux)
}

// discovery is the issuer's discovery document (OpenID Connect Discovery 1.0 section 3).
func discovery(name, base string) map[string]any {
	return map[string]any{
		"issuer":                                         name,
		"authorization_endpoint":                         base + "/authorize",
		"token_endpoint":                                 base + "/token",
		"revocation_endpoint":                            base + "/revoke",
		"device_authorization_endpoint":                  base + "/device_authorization",
		"end_session_endpoint":                           base + "/logout",
		"jwks_uri":                                       base + "/jwks.json",
		"scopes_supported":                               []string{"openid", "profile", "offline_access"},
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token", deviceGrant},
		"subject_types_supported":                        []string{"public"},
		"id_token_signing_alg_values_supported":          []string{"ES256"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"claims_supported":                               []string{"iss", "sub", "aud", "exp", "iat", "nonce", "at_hash", "azp", "name", "token_use", "account_id", "account_name", "workspaces", "roles"},
		"authorization_response_iss_parameter_supported": true,
	}
}

// onLoopback refuses requests for other names than those of this machine: a page on the
// Internet whose name leads here could otherwise read the answers.
func onLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "this issuer is for this machine only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a host, with a port or without, is this machine.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}
