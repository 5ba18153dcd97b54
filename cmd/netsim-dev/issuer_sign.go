package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// signer signs tokens with the newest of the keys that infra/devissuer makes.
type signer struct{ dir string }

// sign returns a JWT (RFC 7519) with the claims, signed with ES256 (RFC 7518 section 3.4). It
// fails before "netsim token" has made the first key.
func (s signer) sign(claims map[string]any) (string, error) {
	id, key, err := s.key()
	if err != nil {
		return "", err
	}
	header, err := json.Marshal(map[string]string{"alg": "ES256", "typ": "JWT", "kid": id})
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signed := base64URL(header) + "." + base64URL(body)
	digest := sha256.Sum256([]byte(signed))
	r, v, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		return "", err
	}
	const half = 32
	signature := make([]byte, 2*half)
	r.FillBytes(signature[:half])
	v.FillBytes(signature[half:])
	return signed + "." + base64URL(signature), nil
}

// key reads the newest key, a JWK (RFC 7518 section 6.2).
func (s signer) key() (id string, key *ecdsa.PrivateKey, err error) {
	text, err := os.ReadFile(filepath.Join(s.dir, "keys.json"))
	if err != nil {
		return "", nil, err
	}
	var set struct {
		Keys []struct{ Kid, Crv, D string }
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return "", nil, err
	}
	if len(set.Keys) == 0 || set.Keys[0].Crv != "P-256" {
		return "", nil, errors.New("the issuer has no key")
	}
	newest := set.Keys[0]
	secret, err := base64.RawURLEncoding.DecodeString(newest.D)
	if err != nil {
		return "", nil, err
	}
	key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), secret)
	return newest.Kid, key, err
}

func base64URL(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// hashOf returns what at_hash has of an access token (OpenID Connect Core 1.0 section 3.1.3.6).
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64URL(sum[:len(sum)/2])
}
