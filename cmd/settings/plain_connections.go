package settings

import (
	"net/url"

	"github.com/jackc/pgx/v5"
)

// plainConnection is a connection to another machine that others can read or pretend to be
// the end of. Settings allow it, because the network may be protected in another way.
type plainConnection struct{ setting, because string }

func (c *Config) plainConnections() (all []plainConnection) {
	for _, at := range c.Kafka {
		if !c.KafkaTLS && !isLoopback(at) {
			all = append(all, plainConnection{"NETSIM_KAFKA", "NETSIM_KAFKA_TLS is not true"})
			break
		}
	}
	if at, err := pgx.ParseConfig(c.Postgres); err == nil && !isLoopback(at.Host) {
		switch {
		case !demandsTLS(at):
			all = append(all, plainConnection{"NETSIM_POSTGRES", "it allows connections without TLS: sslmode should be verify-full"})
		case at.TLSConfig.InsecureSkipVerify:
			all = append(all, plainConnection{"NETSIM_POSTGRES", "it does not check the host of the server's certificate: sslmode should be verify-full"})
		}
	}
	for _, at := range []struct{ setting, url string }{
		{"NETSIM_S3_ENDPOINT", c.S3Endpoint}, {"NETSIM_OIDC_JWKS_URL", c.JWKS}, {"NETSIM_KAFKA_OAUTH_TOKEN_URL", c.KafkaTokenURL},
	} {
		if u, err := url.Parse(at.url); err == nil && u.Scheme == "http" && !isLoopback(u.Host) {
			all = append(all, plainConnection{at.setting, "it begins with http: it should be https"})
		}
	}
	if u, err := url.Parse(c.ConsoleURL); c.ServesConsole() && err == nil && u.Scheme == "http" && !isLoopback(u.Host) {
		all = append(all, plainConnection{"NETSIM_CONSOLE_URL", "it begins with http, so the cookie of a session is not protected: it should be https"})
	}
	return all
}
