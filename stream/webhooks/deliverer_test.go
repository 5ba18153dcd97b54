package webhooks_test

import (
	"encoding/json"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"netsim/internal/testworld"
	"netsim/stream/webhooks"
)

// cloudEvent is what the tests read of a body.
type cloudEvent struct{ ID, Type, Subject, Sequence string }

func eventIn(t testing.TB, body []byte) (e cloudEvent) {
	t.Helper()
	if err := json.Unmarshal(body, &e); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return e
}

// The library of Standard Webhooks, as shipped, verifies each delivery with the secret
// that the service shows.
func TestTheLibraryVerifiesWhatIsDelivered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, nil)
	sub := subscription(r.URL)
	w.source.put(sub)
	c := w.config()
	run(t, webhooks.New(c))
	stream := w.create(t, 2)
	secret, err := c.Keys.Secret("k1", sub.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for i, got := range r.await(t, 3) {
		if err := verifier.Verify(got.body, got.header); err != nil {
			t.Errorf("%v: %v", got.header, err)
		}
		if e := eventIn(t, got.body); e.Subject != stream || e.Sequence != string(rune('1'+i)) {
			t.Errorf("delivery %d is %+v", i, e)
		}
		ids[got.header.Get("Webhook-Id")] = true
	}
	if len(ids) != 3 {
		t.Errorf("the ids are %v", ids)
	}
	testworld.Await(t, func() bool { return len(w.attempts(t, sub.ID)) == 3 })
	for _, a := range w.attempts(t, sub.ID) {
		if a.Outcome != webhooks.Delivered || a.Count != 1 || a.Status != 204 || a.Stream != stream || !ids[a.Message] {
			t.Errorf("the attempt is %+v", a)
		}
	}
}
