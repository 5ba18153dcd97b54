package netsim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What is wrong with a webhook, for errors.Is.
var (
	ErrSignature = errors.New("no signature of the webhook is by this secret")
	ErrTimestamp = errors.New("the webhook is too old, or from the future")
)

// webhookTolerance is how far the timestamp of a webhook may be from this machine's clock.
const webhookTolerance = 5 * time.Minute

// Unwrap verifies a webhook by Standard Webhooks 1.0.0 and returns its event. Body is what
// arrived, byte for byte. While a secret is rotated there are two, the new one and the old one.
//
// A webhook that comes again has the same Event.ID. Answer an error with 401, so that the
// service tries again.
func Unwrap(body []byte, headers http.Header, secrets ...string) (Event, error) {
	id, timestamp, signatures := headers.Get("Webhook-Id"), headers.Get("Webhook-Timestamp"), headers.Get("Webhook-Signature")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" || signatures == "" {
		return Event{}, fmt.Errorf("%w: the headers webhook-id, webhook-timestamp and webhook-signature are not all there", ErrSignature)
	}
	if age := time.Since(time.Unix(seconds, 0)); age.Abs() > webhookTolerance {
		return Event{}, fmt.Errorf("%w: signed %s ago, by this machine's clock", ErrTimestamp, age.Round(time.Second))
	}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return Event{}, errors.New("a secret of webhooks is whsec_ and base64")
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
		want := mac.Sum(nil)
		for signature := range strings.FieldsSeq(signatures) {
			version, text, _ := strings.Cut(signature, ",")
			got, err := base64.StdEncoding.DecodeString(text)
			if version == "v1" && err == nil && hmac.Equal(got, want) {
				return eventOf(body)
			}
		}
	}
	return Event{}, ErrSignature
}
