package settings

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// contradiction is a rule about settings that are right by themselves. It returns what is
// wrong, or nil.
type contradiction struct {
	of    []string // the variables that it is about
	found func(c *Config) error
}

// contradictions returns the rules.
func contradictions() []contradiction {
	return []contradiction{
		{[]string{"NETSIM_ROLES"}, func(c *Config) error {
			if len(c.Roles) == 0 {
				return errors.New("NETSIM_ROLES names no role: it must name at least one of " + strings.Join(EveryRole(), ", "))
			}
			return nil
		}},
		{[]string{"NETSIM_ROLES", "NETSIM_HTTP", "NETSIM_OPS"}, func(c *Config) error {
			if c.Has(RoleAPI) && c.HTTP == c.Ops && !strings.HasSuffix(c.HTTP, ":0") {
				return fmt.Errorf("NETSIM_HTTP and NETSIM_OPS are both %q: they must be different", c.HTTP)
			}
			return nil
		}},
		{[]string{"NETSIM_DATA_DEV", "NETSIM_WRITER_KEYS"}, func(c *Config) error {
			if !c.Development && c.WriterKeys == "" {
				return ErrNoWriterKeys
			}
			return nil
		}},
		{[]string{"NETSIM_DATA_DEV", "NETSIM_REPLICATION"}, func(c *Config) error {
			if !c.Development && c.Replicas() < 3 {
				return fmt.Errorf("NETSIM_REPLICATION is %q: it must be at least 3, so that the loss of one broker loses no event, unless NETSIM_DATA_DEV is true", fmt.Sprint(c.Replication))
			}
			return nil
		}},
		{[]string{"NETSIM_DATA_DEV", "NETSIM_REPLICATION", "NETSIM_POSTGRES", "NETSIM_S3_ENDPOINT", "NETSIM_OIDC_ISSUER", "NETSIM_KAFKA", "NETSIM_KAFKA_TLS"}, func(c *Config) error {
			if setting := c.productionSetting(); c.Development && setting != "" {
				return fmt.Errorf("NETSIM_DATA_DEV is true beside a setting of a production installation, %s: it must be false, because with it events can be lost or forged", setting)
			}
			return nil
		}},
		{[]string{"NETSIM_TOPIC_PREFIX"}, func(c *Config) error {
			if strings.HasSuffix(c.TopicPrefix, "public.") {
				return fmt.Errorf("NETSIM_TOPIC_PREFIX is %q: it must not end in public., because the topics of the log would look like public topics", c.TopicPrefix)
			}
			return nil
		}},
		{[]string{"NETSIM_READ_ONLY", "NETSIM_ROLES"}, func(c *Config) error {
			if c.ReadOnly && slices.ContainsFunc(c.Roles, func(role string) bool { return role != RoleAPI && role != RoleProjector }) {
				return fmt.Errorf("NETSIM_ROLES is %q: with NETSIM_READ_ONLY the roles must be among api and projector", strings.Join(c.Roles, ","))
			}
			return nil
		}},
		{[]string{"NETSIM_PRIMARY_URL", "NETSIM_READ_ONLY"}, func(c *Config) error {
			if c.PrimaryURL != "" && !c.ReadOnly {
				return fmt.Errorf("NETSIM_PRIMARY_URL is %q: it must not be set without NETSIM_READ_ONLY", c.PrimaryURL)
			}
			return nil
		}},
		{[]string{"NETSIM_SCHEMA_REGISTRY_USER", "NETSIM_SCHEMA_REGISTRY_SECRET"}, func(c *Config) error {
			if c.SchemaRegistryUser != "" && c.SchemaRegistrySecret == "" {
				return fmt.Errorf("NETSIM_SCHEMA_REGISTRY_USER is %q: it must not be set without NETSIM_SCHEMA_REGISTRY_SECRET", c.SchemaRegistryUser)
			}
			return nil
		}},
		{[]string{"NETSIM_S3_ACCESS_KEY", "NETSIM_S3_SECRET_KEY"}, func(c *Config) error {
			if (c.S3AccessKey == "") != (c.S3SecretKey == "") {
				return errors.New("one of NETSIM_S3_ACCESS_KEY and NETSIM_S3_SECRET_KEY is set: it must be both or neither")
			}
			return nil
		}},
		{[]string{"NETSIM_ENGINE_PATIENCE", "NETSIM_ENGINE_POLL"}, func(c *Config) error {
			if 0 < c.EngineOutageTimeout && c.EngineOutageTimeout < c.EnginePoll {
				return fmt.Errorf("NETSIM_ENGINE_PATIENCE is %q: it must be at least NETSIM_ENGINE_POLL, which is %q", c.EngineOutageTimeout, c.EnginePoll)
			}
			return nil
		}},
		{[]string{"NETSIM_ENGINE_URLS", "NETSIM_ENGINE_TOKEN"}, func(c *Config) error {
			if len(c.EngineURLs) > 0 && c.EngineToken == "" {
				return fmt.Errorf("NETSIM_ENGINE_URLS is %q: it must not be set without NETSIM_ENGINE_TOKEN", strings.Join(c.EngineURLs, ","))
			}
			return nil
		}},
		{consoleVariables(), func(c *Config) error { return c.checkConsole() }},
		{kafkaVariables(), func(c *Config) error { return c.checkKafka(c.Development) }},
		{[]string{"NETSIM_ROLES", "NETSIM_ARCHIVE", "NETSIM_AUDIT_KEY"}, func(c *Config) error { return c.checkArchive() }},
		{[]string{"NETSIM_QUOTAS"}, func(c *Config) error {
			_, err := c.QuotaLimits()
			return err
		}},
	}
}

// kafkaVariables returns the variables that checkKafka is about.
func kafkaVariables() []string { return append(variablesOf[KafkaAccess](), "NETSIM_DATA_DEV") }

// consoleVariables returns the variables that checkConsole is about.
func consoleVariables() []string {
	return append(variablesOf[ConsoleAccess](), "NETSIM_WRITER_KEYS", "NETSIM_ROLES")
}

// variablesOf returns the variables of the fields of a T.
func variablesOf[T any]() (names []string) {
	for _, f := range settingFields[T]() {
		names = append(names, variable(f))
	}
	return names
}

// addContradictions adds the settings that contradict each other. A rule about a variable
// that is wrong by itself does not apply.
func (c *Config) addContradictions(wrong *wrongSettings) {
	var found []error
	for _, rule := range contradictions() {
		if !wrong.has(rule.of...) {
			found = append(found, rule.found(c))
		}
	}
	for _, err := range found {
		wrong.add(err)
	}
}

// productionSetting returns a setting that only a production installation has, as
// VARIABLE=value, or "". Such a setting demands more replicas than one broker can have, or
// names a component that is on another machine and reached over TLS.
func (c *Config) productionSetting() string {
	if c.Replication >= 3 {
		return fmt.Sprintf("NETSIM_REPLICATION=%d", c.Replication)
	}
	for _, at := range []struct{ variable, url string }{{"NETSIM_OIDC_ISSUER", c.Issuer}, {"NETSIM_S3_ENDPOINT", c.S3Endpoint}} {
		if u, err := url.Parse(at.url); err == nil && u.Scheme == "https" && !isLoopback(u.Hostname()) {
			return at.variable + "=" + at.url
		}
	}
	if away := slices.IndexFunc(c.Kafka, func(at string) bool { return !isLoopback(at) }); c.KafkaTLS && away >= 0 {
		return "NETSIM_KAFKA_TLS=true with the broker " + c.Kafka[away]
	}
	if at, err := pgx.ParseConfig(c.Postgres); err == nil && demandsTLS(at) && !isLoopback(at.Host) {
		return "NETSIM_POSTGRES with TLS to " + at.Host
	}
	return ""
}

// demandsTLS reports whether a connection without TLS is never tried.
func demandsTLS(c *pgx.ConnConfig) bool {
	without := func(f *pgconn.FallbackConfig) bool { return f.TLSConfig == nil }
	return c.TLSConfig != nil && !slices.ContainsFunc(c.Fallbacks, without)
}

// isLoopback reports whether a host name or address, with a port or without, is this
// machine.
func isLoopback(at string) bool {
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		host = at
	}
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasPrefix(host, "/") || ip != nil && ip.IsLoopback()
}

// checkArchive refuses settings with which a process cannot archive.
func (c *Config) checkArchive() error {
	switch {
	case !c.Has(RoleArchiver):
		return nil
	case c.Archive == "":
		return errors.New("NETSIM_ARCHIVE is not set: with the role archiver it must be a directory, or s3://bucket/prefix")
	case c.AuditKey == "":
		return errors.New("NETSIM_AUDIT_KEY is not set: with the role archiver it must be the file of the key that signs the archive")
	}
	return nil
}
