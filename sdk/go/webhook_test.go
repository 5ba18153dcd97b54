package netsim

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	older  = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	body   = `{"specversion":"1.0","id":"e-1","type":"netsim.simulation.completed.v1","subject":"sim_01","time":"2026-11-21T08:30:10.125Z","sequence":"7","data":{"x":1},"new":true}`
)

// signed returns the headers that the library of Standard Webhooks sends.
func signed(t *testing.T, at time.Time, secrets ...string) http.Header {
	t.Helper()
	h := http.Header{}
	h.Set("webhook-id", "msg_1")
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	all := ""
	for _, secret := range secrets {
		sender, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := sender.Sign("msg_1", at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		all += " " + signature
	}
	h.Set("webhook-signature", all[min(1, len(all)):])
	return h
}

func TestUnwrap(t *testing.T) {
	t.Parallel()
	now := time.Now()
	other := signed(t, now, secret)
	other.Set("webhook-signature", strings.Replace(other.Get("webhook-signature"), "v1,", "v1a,", 1))
	with := func(h http.Header, name, value string) http.Header { h.Set(name, value); return h }
	for name, test := range map[string]struct {
		headers http.Header
		body    string
		secrets []string
		want    error
	}{
		"signed":               {signed(t, now, secret), body, []string{secret}, nil},
		"without its prefix":   {signed(t, now, secret), body, []string{secret[len("whsec_"):]}, nil},
		"two secrets there":    {signed(t, now, older, secret), body, []string{secret}, nil},
		"two secrets here":     {signed(t, now, older), body, []string{secret, older}, nil},
		"almost too old":       {signed(t, now.Add(-290*time.Second), secret), body, []string{secret}, nil},
		"too old":              {signed(t, now.Add(-310*time.Second), secret), body, []string{secret}, ErrTimestamp},
		"of the future":        {signed(t, now.Add(310*time.Second), secret), body, []string{secret}, ErrTimestamp},
		"another secret":       {signed(t, now, older), body, []string{secret}, ErrSignature},
		"no secret":            {signed(t, now, secret), body, nil, ErrSignature},
		"another body":         {signed(t, now, secret), body + " ", []string{secret}, ErrSignature},
		"another id":           {with(signed(t, now, secret), "webhook-id", "msg_2"), body, []string{secret}, ErrSignature},
		"another timestamp":    {with(signed(t, now, secret), "webhook-timestamp", strconv.FormatInt(now.Unix()-1, 10)), body, []string{secret}, ErrSignature},
		"no headers":           {http.Header{}, body, []string{secret}, ErrSignature},
		"another version":      {other, body, []string{secret}, ErrSignature},
		"an unknown signature": {with(signed(t, now, secret), "webhook-signature", "v1a,AAAA v1,!! v1"), body, []string{secret}, ErrSignature},
	} {
		event, err := Unwrap([]byte(test.body), test.headers, test.secrets...)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
		if err == nil && (event.ID != "e-1" || event.Subject != "sim_01" || event.Sequence != "7" || string(event.Data) != `{"x":1}` || string(event.Raw) != body || event.Time.IsZero()) {
			t.Errorf("%s: got %+v", name, event)
		}
	}
	if _, err := Unwrap([]byte(body), signed(t, now, secret), "not base64"); err == nil || errors.Is(err, ErrSignature) {
		t.Errorf("of a malformed secret: %v", err)
	}
}

// TestVectorOfTheSpecification: the example of Standard Webhooks, at its time.
func TestVectorOfTheSpecification(t *testing.T) {
	t.Parallel()
	sender, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got, err := sender.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)); got != want || err != nil {
		t.Errorf("the library signs with %s, %v", got, err)
	}
}
