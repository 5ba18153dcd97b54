package auth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

const (
	keysMaxBytes = 1 << 20
	keysMaxCount = 64
	minRSABits   = 2048
)

// fetchKeys fetches the issuer's JWK set.
func fetchKeys(ctx context.Context, client *http.Client, url string) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(ctx, keysFetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch the issuer's keys: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch the issuer's keys: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch the issuer's keys: status %d", resp.StatusCode)
	}
	return readKeys(io.LimitReader(resp.Body, keysMaxBytes))
}

// readKeys parses a JWK set and returns the keys that can verify tokens. It skips
// keys of unknown types, as RFC 7517 section 5 requires.
func readKeys(r io.Reader) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(r).Decode(&set); err != nil {
		return nil, fmt.Errorf("read the issuer's keys: %w", err)
	}
	if len(set.Keys) > keysMaxCount {
		return nil, fmt.Errorf("read the issuer's keys: %d keys, at most %d are accepted", len(set.Keys), keysMaxCount)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if json.Unmarshal(raw, &k) == nil && usable(k) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("read the issuer's keys: none can verify a signature")
	}
	return keys, nil
}

// usable reports whether the key may verify tokens: it is public, for signatures,
// and not weak.
func usable(k jose.JSONWebKey) bool {
	if !k.Valid() || !k.IsPublic() || (k.Use != "" && k.Use != "sig") {
		return false
	}
	if key, ok := k.Key.(*rsa.PublicKey); ok {
		return key.N.BitLen() >= minRSABits
	}
	return true
}

// verify tries the key that the signature's header names, or every key if it
// names none.
func verify(jws *jose.JSONWebSignature, keys []jose.JSONWebKey) ([]byte, bool) {
	header := jws.Signatures[0].Header
	for i := range keys {
		k := &keys[i]
		if header.KeyID != "" && header.KeyID != k.KeyID || k.Algorithm != "" && k.Algorithm != header.Algorithm {
			continue
		}
		if signed, err := jws.Verify(k); err == nil {
			return signed, true
		}
	}
	return nil, false
}

// includes reports whether every key of want is among keys.
func includes(keys, want []jose.JSONWebKey) bool {
	for _, w := range want {
		if !slices.ContainsFunc(keys, func(k jose.JSONWebKey) bool { return same(k, w) }) {
			return false
		}
	}
	return true
}

func same(a, b jose.JSONWebKey) bool {
	x, errX := a.Thumbprint(crypto.SHA256)
	y, errY := b.Thumbprint(crypto.SHA256)
	return errX == nil && errY == nil && a.KeyID == b.KeyID && bytes.Equal(x, y)
}
