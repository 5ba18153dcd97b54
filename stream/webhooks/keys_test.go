package webhooks_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"netsim/stream/webhooks"
)

func TestSecretsAreDerived(t *testing.T) {
	t.Parallel()
	other := "k2:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 40)))
	keys, err := webhooks.ParseKeys(masterKey + ", " + other)
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := keys.Current(); id != "k1" || !ok {
		t.Errorf("the current key is %q", id)
	}
	secret := func(key, webhook string, generation int) string {
		s, err := keys.Secret(key, webhook, generation)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := secret("k1", "webhook_a", 1)
	// Made with: printf 'netsim.webhook.v1\nwebhook_a\n1' | openssl dgst -sha256 -hmac 01234567890123456789012345678901 -binary | base64
	if want := "whsec_i6VQ78lUVm4654F9pr97VM7bwjEZuP+YOZwcPoHJlb0="; first != want {
		t.Errorf("the secret is %s, want %s", first, want)
	}
	for _, s := range []string{secret("k1", "webhook_a", 2), secret("k1", "webhook_b", 1), secret("k2", "webhook_a", 1)} {
		if s == first {
			t.Error("two secrets are equal")
		}
	}
	if _, err := keys.Secret("k3", "webhook_a", 1); err == nil {
		t.Error("there is no key k3")
	}
	if _, ok := (webhooks.Keys{}).Current(); ok {
		t.Error("no keys have no current one")
	}
}

func TestMasterKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	key := strings.TrimPrefix(masterKey, "k1:")
	for _, text := range []string{"k1", "k1:", ":" + key, "k 1:" + key, "k1:" + key[:40], "k1:!" + key, masterKey + ",", masterKey + "," + masterKey, strings.Repeat("k", 33) + ":" + key} {
		if _, err := webhooks.ParseKeys(text); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := webhooks.ParseKeys(""); err != nil {
		t.Errorf("no keys: %v", err)
	}
}
