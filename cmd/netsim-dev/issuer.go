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

// startIssuer serves the local OIDC issuer: its discovery document and its public
// keys. It reads no private key. "netsim token" (infra/devissuer) mints from the
// same directory. They share two files:
//
//	url        the issuer's name, written once by startIssuer; the claim iss of tokens
//	jwks.json  the public keys, written by devissuer whenever it makes a key
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

// issuerHandler serves the discovery document and the keys in dir.
func issuerHandler(dir, name, base string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{
			"issuer":                                name,
			"jwks_uri":                              base + "/jwks.json",
			"response_types_supported":              []string{"id_token"},
			"subject_types_supported":               []string{"public"},
			"id_token_signing_alg_values_supported": []string{"ES256"},
		})
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
	return mux
}
