package devissuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/go-jose/go-jose/v4"
)

// keptKeys is how many keys are published: the signing key and its predecessors,
// whose tokens may still be valid.
const keptKeys = 8

// Rotate makes a new signing key. Tokens of the last few keys stay valid.
func Rotate(dataDir string) error {
	dir := filepath.Join(dataDir, "issuer")
	return locked(dir, func() error {
		keys, err := readKeys(dir)
		if err != nil {
			return err
		}
		_, err = addKey(dir, keys)
		return err
	})
}

// signingKey returns the newest key of the issuer, and makes one if there is none.
func signingKey(dir string) (key jose.JSONWebKey, err error) {
	err = locked(dir, func() error {
		keys, err := readKeys(dir)
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			keys, err = addKey(dir, keys)
		}
		if err == nil {
			key = keys[0]
		}
		return err
	})
	return key, err
}

func readKeys(dir string) ([]jose.JSONWebKey, error) {
	text, err := os.ReadFile(filepath.Join(dir, "keys.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	return set.Keys, nil
}

// addKey makes a key, puts it first, and publishes the set. The public keys are
// written first, so that every key that signs is published.
func addKey(dir string, keys []jose.JSONWebKey) ([]jose.JSONWebKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key := jose.JSONWebKey{Key: private, Algorithm: string(jose.ES256), Use: "sig"}
	print, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	key.KeyID = base64.RawURLEncoding.EncodeToString(print)
	keys = append([]jose.JSONWebKey{key}, keys...)
	keys = keys[:min(len(keys), keptKeys)]

	var public []jose.JSONWebKey
	for _, k := range keys {
		public = append(public, k.Public())
	}
	if err := writeKeys(filepath.Join(dir, "jwks.json"), public); err != nil {
		return nil, err
	}
	return keys, writeKeys(filepath.Join(dir, "keys.json"), keys)
}

// writeKeys replaces the file atomically: readers see the old set or the new one.
func writeKeys(file string, keys []jose.JSONWebKey) error {
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// locked runs do while no other process changes the keys in dir.
func locked(dir string, do func() error) error {
	f, err := os.OpenFile(filepath.Join(dir, "keys.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	return do()
}
