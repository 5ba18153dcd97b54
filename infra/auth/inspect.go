package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"net/http"

	"github.com/go-jose/go-jose/v4"
)

// Key describes a key of an issuer.
type Key struct {
	ID         string
	Algorithms []string // of the signatures that it can verify
}

// FetchKeys fetches the keys of an issuer that can verify tokens.
func FetchKeys(ctx context.Context, client *http.Client, url string) ([]Key, error) {
	set, err := fetchKeys(ctx, client, url)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, len(set))
	for i := range set {
		keys[i] = Key{ID: set[i].KeyID, Algorithms: algorithmsOf(&set[i])}
	}
	return keys, nil
}

func algorithmsOf(k *jose.JSONWebKey) []string {
	if k.Algorithm != "" {
		return []string{k.Algorithm}
	}
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	case *ecdsa.PublicKey:
		switch key.Curve.Params().BitSize {
		case 256:
			return []string{"ES256"}
		case 384:
			return []string{"ES384"}
		}
		return []string{"ES512"}
	case ed25519.PublicKey:
		return []string{"EdDSA"}
	}
	return nil
}
