package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Keys are the master keys from which the secrets of webhooks are derived. A secret follows
// from a master key, the webhook's id and a generation, so none is stored. The zero Keys
// has no master key: webhooks are off.
type Keys struct{ all []masterKey }

type masterKey struct {
	id  string
	key []byte
}

// minKey is the least number of bytes of a master key.
const minKey = 32

var keyID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// ParseKeys reads master keys: id:base64, separated by commas. New secrets are derived
// from the first. The error does not contain the keys.
func ParseKeys(text string) (Keys, error) {
	var k Keys
	if text == "" {
		return k, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		id, encoded, _ := strings.Cut(strings.TrimSpace(one), ":")
		key, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case !keyID.MatchString(id):
			return Keys{}, errors.New("a master key of webhooks is id:base64, and its id has 1 to 32 letters, digits, - and _")
		case err != nil || len(key) < minKey:
			return Keys{}, fmt.Errorf("the master key %s of webhooks must be at least %d bytes in base64", id, minKey)
		case slices.ContainsFunc(k.all, func(m masterKey) bool { return m.id == id }):
			return Keys{}, fmt.Errorf("there are two master keys %s of webhooks", id)
		}
		k.all = append(k.all, masterKey{id, key})
	}
	return k, nil
}

// Current returns the id of the master key for new secrets, and whether there is one.
func (k Keys) Current() (id string, ok bool) {
	if len(k.all) == 0 {
		return "", false
	}
	return k.all[0].id, true
}

// Secret returns the secret of a webhook and a generation, as its receiver configures it:
// whsec_ and 32 bytes in base64.
func (k Keys) Secret(keyID, webhook string, generation int) (string, error) {
	key, err := k.derive(keyID, webhook, generation)
	if err != nil {
		return "", err
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(key), nil
}

func (k Keys) derive(keyID, webhook string, generation int) ([]byte, error) {
	for _, m := range k.all {
		if m.id == keyID {
			mac := hmac.New(sha256.New, m.key)
			fmt.Fprintf(mac, "netsim.webhook.v1\n%s\n%d", webhook, generation)
			return mac.Sum(nil), nil
		}
	}
	return nil, fmt.Errorf("the master key %s of webhooks is not configured", keyID)
}
