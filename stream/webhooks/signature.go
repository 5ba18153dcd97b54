package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"netsim/events"
)

// The prefixes of the ids of messages, and of the events of tests.
const (
	messagePrefix = "msg"
	testPrefix    = "test"
)

// messageID returns the header webhook-id of an event for a webhook. It is the same in all
// attempts and replays, so that a receiver recognizes an event that comes again.
func messageID(webhook, event string) string { return events.DerivedID(messagePrefix, webhook, event) }

// setSignature sets the headers of Standard Webhooks 1.0.0: the id, the time in seconds,
// and for each key a signature v1, HMAC-SHA256 of "id.time.body" in base64.
func setSignature(h http.Header, id string, at time.Time, body []byte, keys [][]byte) {
	seconds := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + seconds + "."))
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", seconds)
	h.Set("Webhook-Signature", strings.Join(signatures, " "))
}

// signingKeys are the keys of a webhook and until when each signs, zero for ever.
type signingKeys []struct {
	key   []byte
	until time.Time
}

// signing derives the keys of a webhook.
func (k Keys) signing(s *Subscription) (all signingKeys, err error) {
	all = make(signingKeys, len(s.Secrets))
	for i, secret := range s.Secrets {
		all[i].until = secret.Until
		if all[i].key, err = k.derive(secret.Key, s.ID, secret.Generation); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// at returns the keys that sign at a time.
func (k signingKeys) at(now time.Time) (keys [][]byte) {
	for _, one := range k {
		if one.until.IsZero() || now.Before(one.until) {
			keys = append(keys, one.key)
		}
	}
	return keys
}
