//go:build tools

package broker_test

import (
	"crypto/rand"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"

	"netsim/infra/broker"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// The users of the tests. Those of SCRAM and of PLAIN have the same names.
const (
	everyone = "everyone" // may do everything
	machine  = "machine"  // the common name of client certificates, may do everything
)

// stack is the node of Apache Kafka that the tests of this process share.
type stack struct {
	*teststack.SecureKafka

	dir    string
	issuer *tokenIssuer
}

var shared struct {
	once  sync.Once
	stack *stack
}

// kafkaStack returns the shared node. It runs until the process ends.
func kafkaStack(t *testing.T) *stack {
	t.Helper()
	shared.once.Do(func() {
		dir, err := os.MkdirTemp("", "netsim-secure-")
		if err != nil {
			t.Fatal(err)
		}
		issuer := newTokenIssuer(t)
		k := teststack.StartSecureKafka(keep{t}, dir, teststack.SecureConfig{
			Passwords: map[string]string{everyone: password},
			Super:     []string{"User:" + everyone, "User:" + robot, "User:" + machine},
			JWKSURL:   issuer.url + "/keys", Issuer: issuer.url, Audience: "kafka",
			Session: 2 * time.Second,
		})
		shared.stack = &stack{k, dir, issuer}
		shared.stack.addUser(t, everyone)
	})
	if shared.stack == nil {
		t.Fatal("the shared Apache Kafka did not start")
	}
	return shared.stack
}

// keep is a testing.TB whose cleanups do not run, so that what it starts lasts until the
// process ends.
type keep struct{ testing.TB }

func (keep) Cleanup(func()) {}

// addUser makes a user of SCRAM, and waits until the broker knows it: it answers before
// it has applied what it answers for.
func (s *stack) addUser(t *testing.T, name string) {
	t.Helper()
	admin := s.admin(t)
	for _, mechanism := range []sarama.ScramMechanismType{sarama.SCRAM_MECHANISM_SHA_256, sarama.SCRAM_MECHANISM_SHA_512} {
		results, err := admin.UpsertUserScramCredentials([]sarama.AlterUserScramCredentialsUpsert{
			{Name: name, Mechanism: mechanism, Iterations: 4096, Salt: []byte(rand.Text()), Password: []byte(password)},
		})
		if err != nil || results[0].ErrorCode != sarama.ErrNoError {
			t.Fatalf("add the user %s: %v, %v", name, err, results)
		}
	}
	for _, mechanism := range []string{broker.SCRAM256, broker.SCRAM512} {
		to, err := broker.New(broker.Config{
			TLS: &broker.TLS{CA: s.Authority.File}, SASL: &broker.SASL{Mechanism: mechanism, User: name, Password: password},
			Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		client := to.Client([]string{s.SASL}, 30*time.Second)
		testworld.Await(t, func() bool {
			_, err := client.Metadata(t.Context(), &kafka.MetadataRequest{Topics: []string{}})
			return err == nil
		})
	}
}

// admin returns a client that may do everything.
func (s *stack) admin(t *testing.T) sarama.ClusterAdmin {
	t.Helper()
	c := sarama.NewConfig()
	c.Version = sarama.V2_8_0_0
	admin, err := sarama.NewClusterAdmin([]string{s.Plain}, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	return admin
}

// way is a way to connect.
type way struct {
	address string
	config  broker.Config
}

// as returns how a user connects.
func (s *stack) as(name string) way {
	return way{s.SASL, broker.Config{
		TLS: &broker.TLS{CA: s.Authority.File}, SASL: &broker.SASL{Mechanism: broker.SCRAM512, User: name, Password: password},
		Log: slog.New(slog.DiscardHandler),
	}}
}

// ways returns every way to connect.
func (s *stack) ways() map[string]way {
	trust := broker.TLS{CA: s.Authority.File}
	own := s.Authority.Issue("machine", teststack.Certificate{Name: machine})
	mutual := broker.TLS{CA: s.Authority.File, Cert: own.Cert, Key: own.Key}
	user := func(mechanism string) *broker.SASL {
		return &broker.SASL{Mechanism: mechanism, User: everyone, Password: password}
	}
	return map[string]way{
		"plain TCP":     {s.Plain, broker.Config{}},
		"TLS":           {s.TLS, broker.Config{TLS: &trust}},
		"mutual TLS":    {s.Mutual, broker.Config{TLS: &mutual}},
		"PLAIN":         {s.SASL, broker.Config{TLS: &trust, SASL: user(broker.Plain)}},
		"SCRAM-SHA-256": {s.SASL, broker.Config{TLS: &trust, SASL: user(broker.SCRAM256)}},
		"SCRAM-SHA-512": {s.SASL, broker.Config{TLS: &trust, SASL: user(broker.SCRAM512)}},
		"OAUTHBEARER":   {s.SASL, broker.Config{TLS: &trust, SASL: &broker.SASL{Mechanism: broker.OAuthBearer, OAuth: s.issuer.client()}}},
	}
}
