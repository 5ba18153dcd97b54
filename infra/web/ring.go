package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

const (
	ringVersion = 1

	keyIDSize   = 4
	nonceSize   = 12
	tagSize     = 16
	sealedStart = 1 + keyIDSize + nonceSize
)

// Ring seals bytes with AES-256-GCM, so that nobody without a key can read or forge them.
// What is sealed is bound to what it is for, and opens only with the same binding.
//
// Sealed bytes are: version, key id, random nonce, ciphertext with its tag. Random nonces
// are safe for about 2^32 seals per key. To rotate keys, put a new key first and keep the
// old one in the list as long as anything that it sealed is to be opened.
type Ring struct{ keys []ringKey }

type ringKey struct {
	id   [keyIDSize]byte
	aead cipher.AEAD
}

// NewRing returns a Ring that seals with the first key and opens with any of them. A key
// has 32 bytes.
func NewRing(keys [][]byte) (*Ring, error) {
	if len(keys) == 0 {
		return nil, errors.New("a key is required")
	}
	r := &Ring{}
	for _, key := range keys {
		if len(key) != 32 {
			return nil, fmt.Errorf("a key has 32 bytes, got %d", len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(append([]byte("netsim cursor key "), key...))
		r.keys = append(r.keys, ringKey{id: [keyIDSize]byte(sum[:]), aead: aead})
	}
	return r, nil
}

// Seal seals the bytes for the binding.
func (r *Ring) Seal(binding, plain []byte) []byte {
	key := r.keys[0]
	out := make([]byte, sealedStart, sealedStart+len(plain)+tagSize)
	out[0] = ringVersion
	copy(out[1:], key.id[:])
	rand.Read(out[1+keyIDSize : sealedStart])
	return key.aead.Seal(out, out[1+keyIDSize:sealedStart], plain, associated(out, binding))
}

// Open returns the bytes that were sealed. It returns false unless one of the keys sealed
// them for this binding.
func (r *Ring) Open(binding, sealed []byte) ([]byte, bool) {
	if len(sealed) < sealedStart+tagSize || sealed[0] != ringVersion {
		return nil, false
	}
	for _, key := range r.keys {
		if key.id == [keyIDSize]byte(sealed[1:]) {
			plain, err := key.aead.Open(nil, sealed[1+keyIDSize:sealedStart], sealed[sealedStart:], associated(sealed, binding))
			return plain, err == nil
		}
	}
	return nil, false
}

// associated is the additional data of the AEAD: version, key id and binding.
func associated(sealed, binding []byte) []byte {
	return append(append(make([]byte, 0, 1+keyIDSize+len(binding)), sealed[:1+keyIDSize]...), binding...)
}
