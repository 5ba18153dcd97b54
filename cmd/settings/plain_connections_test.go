package settings

import (
	"slices"
	"testing"
)

// TestPlainConnectionsAreAnnounced: a connection to another machine without TLS, or without
// a check of its host, is announced; one on this machine is not.
func TestPlainConnectionsAreAnnounced(t *testing.T) {
	t.Parallel()
	safe := Config{Kafka: []string{"broker:9092"}, KafkaAccess: KafkaAccess{KafkaTLS: true}, Postgres: "postgres://database/x?sslmode=verify-full", S3Endpoint: "https://store", JWKS: "https://issuer/keys"}
	for name, test := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"nothing":       {func(*Config) {}, nil},
		"Kafka":         {func(c *Config) { c.KafkaTLS = false }, []string{"NETSIM_KAFKA"}},
		"Kafka here":    {func(c *Config) { c.KafkaTLS, c.Kafka = false, []string{"127.0.0.1:9092"} }, nil},
		"prefer":        {func(c *Config) { c.Postgres = "postgres://database/x?sslmode=prefer" }, []string{"NETSIM_POSTGRES"}},
		"disable":       {func(c *Config) { c.Postgres = "postgres://database/x?sslmode=disable" }, []string{"NETSIM_POSTGRES"}},
		"require":       {func(c *Config) { c.Postgres = "postgres://database/x?sslmode=require" }, []string{"NETSIM_POSTGRES"}},
		"database here": {func(c *Config) { c.Postgres = "postgres://localhost/x?sslmode=disable" }, nil},
		"store, issuer": {func(c *Config) { c.S3Endpoint, c.JWKS = "http://store", "http://issuer/keys" }, []string{"NETSIM_S3_ENDPOINT", "NETSIM_OIDC_JWKS_URL"}},
		"store here":    {func(c *Config) { c.S3Endpoint = "http://127.0.0.1:9000" }, nil},
	} {
		c := safe
		test.change(&c)
		var got []string
		for _, plain := range c.plainConnections() {
			got = append(got, plain.setting)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q are announced, want %q", name, got, test.want)
		}
	}
}
