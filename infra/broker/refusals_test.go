//go:build tools

package broker_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"netsim/cmd/service"
	"netsim/infra/broker"
	"netsim/infra/eventlog"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// refusal is a way to connect that is refused, and words of the sentence that says why.
type refusal struct {
	way  way
	want string
}

func (s *stack) refusals(t *testing.T) map[string]refusal {
	t.Helper()
	stranger := teststack.NewAuthority(t, t.TempDir(), "stranger")
	unknown := stranger.Issue("unknown", teststack.Certificate{Name: machine})
	old := s.Authority.Issue("old-"+t.Name(), teststack.Certificate{Name: machine, Until: time.Now().Add(-time.Hour)})
	trust := &broker.TLS{CA: s.Authority.File}
	user := func(mechanism, name, password string) broker.Config {
		return broker.Config{TLS: trust, SASL: &broker.SASL{Mechanism: mechanism, User: name, Password: password}}
	}
	oauth := func(change func(*broker.OAuth)) broker.Config {
		o := s.issuer.client()
		change(&o)
		return broker.Config{TLS: trust, SASL: &broker.SASL{Mechanism: broker.OAuthBearer, OAuth: o}}
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(s.issuer.mint(robot, time.Now().Add(-time.Hour))), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]refusal{
		"wrong password, SCRAM":    {way{s.SASL, user(broker.SCRAM512, everyone, "hidden-wrong")}, `refused the user "everyone": the password is wrong, or the user is unknown to SCRAM-SHA-512`},
		"wrong password, PLAIN":    {way{s.SASL, user(broker.Plain, everyone, "hidden-wrong")}, `refused the user "everyone": the password is wrong, or the user is unknown to PLAIN`},
		"unknown user":             {way{s.SASL, user(broker.SCRAM256, "nobody", password)}, `refused the user "nobody"`},
		"unknown authority":        {way{s.TLS, broker.Config{TLS: &broker.TLS{CA: stranger.File}}}, `is signed by "CN=authority", which is not trusted`},
		"expired certificate":      {way{s.Expired, broker.Config{TLS: trust}}, "is valid from "},
		"another host":             {way{s.Other, broker.Config{TLS: trust}}, "is not for 127.0.0.1: it is for kafka.example"},
		"TLS to plain TCP":         {way{s.Plain, broker.Config{TLS: trust}}, "has no TLS, which the settings use"},
		"plain TCP to TLS":         {way{s.TLS, broker.Config{}}, "speaks TLS, which the settings do not use"},
		"no user":                  {way{s.SASL, broker.Config{TLS: trust}}, "wants a user by SASL, which the settings do not have"},
		"a user that is not taken": {way{s.TLS, user(broker.SCRAM512, everyone, password)}, "takes no users by SASL"},
		"no client certificate":    {way{s.Mutual, broker.Config{TLS: trust}}, "no client certificate is set"},
		"a stranger's certificate": {way{s.Mutual, broker.Config{TLS: &broker.TLS{CA: s.Authority.File, Cert: unknown.Cert, Key: unknown.Key}}}, "refused the client certificate"},
		"an old certificate":       {way{s.Mutual, broker.Config{TLS: &broker.TLS{CA: s.Authority.File, Cert: old.Cert, Key: old.Key}}}, "refused the client certificate"},
		"wrong client secret":      {way{s.SASL, oauth(func(o *broker.OAuth) { o.ClientSecret = "hidden-wrong" })}, "answered 401 Unauthorized: invalid_client"},
		"no token endpoint":        {way{s.SASL, oauth(func(o *broker.OAuth) { o.TokenURL = "http://127.0.0.1:1/token" })}, "ask the token endpoint http://127.0.0.1:1/token for a token"},
		"an expired token":         {way{s.SASL, oauth(func(o *broker.OAuth) { *o = broker.OAuth{TokenFile: token} })}, "refused the OAuth token"},
	}
}

// TestRefusalsAreOneSentence: what TLS or SASL refuses is one sentence, from both client
// libraries, without a secret.
func TestRefusalsAreOneSentence(t *testing.T) {
	t.Parallel()
	s := kafkaStack(t)
	for name, r := range s.refusals(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.way.config.Log = slog.New(slog.DiscardHandler)
			connector, err := broker.New(r.way.config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = eventlog.Open(t.Context(), eventlog.Config{Brokers: []string{r.way.address}, Connect: connector})
			check(t, "sarama", err, r.want)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = connector.Client([]string{r.way.address}, 30*time.Second).Metadata(ctx, &kafka.MetadataRequest{})
			check(t, "kafka-go", connector.ExplainClosed(ctx, []string{r.way.address}, err), r.want)
		})
	}
}

func check(t *testing.T, from string, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: connected", from)
		return
	}
	text := err.Error()
	if !strings.Contains(text, want) || strings.Contains(text, "\n") || strings.Contains(text, "hidden") || strings.Contains(text, "eyJ") {
		t.Errorf("%s says %q, want one line with %q and no secret", from, text, want)
	}
}

// TestRefusedServicesEnd: a service that is refused at its start ends with the sentence.
func TestRefusedServicesEnd(t *testing.T) {
	t.Parallel()
	s := kafkaStack(t)
	r := s.refusals(t)["wrong password, SCRAM"]
	c := servicetest.Config(t)
	r.way.set(&c)
	err := service.Run(t.Context(), c, slog.New(slog.DiscardHandler), func(service.Started) { t.Error("the service started") })
	check(t, "the service", err, r.want)
}
