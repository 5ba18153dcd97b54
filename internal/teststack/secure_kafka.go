package teststack

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// SecureKafka is a node of Apache Kafka with a listener for each way to connect. It
// checks the rights of users: User:ANONYMOUS, which is everyone on the listener Plain, may
// do everything, and so may the users in Super.
type SecureKafka struct {
	Authority *Authority // of the brokers' and the clients' certificates

	Plain   string // host:port of the listener without TLS
	TLS     string // with TLS
	Mutual  string // with TLS and client certificates; the common name is the user
	SASL    string // with TLS and PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER
	Expired string // with TLS and an expired certificate
	Other   string // with TLS and a certificate of another host

	process *Process // keeps the pipe open whose end ends the node
}

// SecureConfig says what the users of a SecureKafka are.
type SecureConfig struct {
	Passwords map[string]string // of the users of PLAIN
	Super     []string          // users that may do everything, such as User:alice
	JWKSURL   string            // the keys of OAUTHBEARER's tokens
	Issuer    string            // the issuer of these tokens
	Audience  string            // the audience of these tokens

	// Session is after which time a session of OAUTHBEARER must authenticate again.
	Session time.Duration
}

// StartSecureKafka starts a node of Apache Kafka, which ends with the test.
func StartSecureKafka(t testing.TB, dir string, c SecureConfig) *SecureKafka {
	t.Helper()
	k := &SecureKafka{
		Authority: NewAuthority(t, dir, "authority"), TLS: FreeAddress(t), Mutual: FreeAddress(t), SASL: FreeAddress(t),
		Expired: FreeAddress(t), Other: FreeAddress(t),
	}
	hosts := []string{"127.0.0.1", "localhost"}
	server := k.Authority.Issue("broker", Certificate{Name: "broker", Hosts: hosts})
	expired := k.Authority.Issue("expired", Certificate{Name: "broker", Hosts: hosts, Until: time.Now().Add(-time.Hour)})
	other := k.Authority.Issue("other", Certificate{Name: "broker", Hosts: []string{"kafka.example"}})

	lines := []string{
		"ssl.keystore.type=PEM", "ssl.keystore.location=" + server.Both,
		"ssl.truststore.type=PEM", "ssl.truststore.location=" + k.Authority.File,
		"listener.name.expired.ssl.keystore.type=PEM", "listener.name.expired.ssl.keystore.location=" + expired.Both,
		"listener.name.other.ssl.keystore.type=PEM", "listener.name.other.ssl.keystore.location=" + other.Both,
		"listener.name.mutual.ssl.client.auth=required",
		"listener.name.mutual.ssl.principal.mapping.rules=RULE:^CN=(.*?)$/$1/,DEFAULT",
		"listener.name.sasl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
		"listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;",
		"listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;",
		"listener.name.sasl.plain.sasl.jaas.config=" + plainUsers(c.Passwords),
		"listener.name.sasl.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
		"listener.name.sasl.oauthbearer.sasl.server.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler",
		"listener.name.sasl.oauthbearer.sasl.oauthbearer.jwks.endpoint.url=" + c.JWKSURL,
		"listener.name.sasl.oauthbearer.sasl.oauthbearer.expected.issuer=" + c.Issuer,
		"listener.name.sasl.oauthbearer.sasl.oauthbearer.expected.audience=" + c.Audience,
		fmt.Sprintf("listener.name.sasl.oauthbearer.connections.max.reauth.ms=%d", c.Session.Milliseconds()),
		"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users=" + strings.Join(append([]string{"User:ANONYMOUS"}, c.Super...), ";"),
	}
	properties := filepath.Join(dir, "secure.properties")
	if err := os.WriteFile(properties, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listeners := fmt.Sprintf("TLS=SSL@%s,MUTUAL=SSL@%s,SASL=SASL_SSL@%s,EXPIRED=SSL@%s,OTHER=SSL@%s", k.TLS, k.Mutual, k.SASL, k.Expired, k.Other)
	k.process = Start(t, "kafka", dir, "--no-sync", "--ephemeral", "--listeners", listeners, "--properties", properties)
	k.Plain = k.process.Addr
	return k
}

// plainUsers returns the setting with the users of PLAIN.
func plainUsers(passwords map[string]string) string {
	text := "org.apache.kafka.common.security.plain.PlainLoginModule required"
	for _, user := range slices.Sorted(maps.Keys(passwords)) {
		text += fmt.Sprintf(" user_%s=%q", user, passwords[user])
	}
	return text + ";"
}
