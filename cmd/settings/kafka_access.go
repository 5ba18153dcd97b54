package settings

import (
	"errors"
	"fmt"
	"log/slog"

	"netsim/infra/broker"
)

// KafkaAccess has the settings of how to connect to Kafka and as which user
// (docs/security.md).
type KafkaAccess struct {
	KafkaTLS        bool   `env:"NETSIM_KAFKA_TLS"`
	KafkaCA         string `env:"NETSIM_KAFKA_CA" form:"file"`
	KafkaCert       string `env:"NETSIM_KAFKA_CERT" form:"file"`
	KafkaKey        string `env:"NETSIM_KAFKA_KEY" form:"file"`
	KafkaServerName string `env:"NETSIM_KAFKA_SERVER_NAME" form:"name"`

	KafkaSASL     string `env:"NETSIM_KAFKA_SASL" form:"sasl"`
	KafkaUser     string `env:"NETSIM_KAFKA_USER" form:"name"`
	KafkaPassword string `env:"NETSIM_KAFKA_PASSWORD" secret:"true"`

	KafkaTokenFile    string `env:"NETSIM_KAFKA_OAUTH_TOKEN_FILE" form:"file"`
	KafkaTokenURL     string `env:"NETSIM_KAFKA_OAUTH_TOKEN_URL" form:"url"`
	KafkaClientID     string `env:"NETSIM_KAFKA_OAUTH_CLIENT_ID" form:"name"`
	KafkaClientSecret string `env:"NETSIM_KAFKA_OAUTH_CLIENT_SECRET" secret:"true"`
	KafkaScope        string `env:"NETSIM_KAFKA_OAUTH_SCOPE"`
}

// checkKafka refuses settings that contradict each other.
func (k *KafkaAccess) checkKafka(development bool) error {
	oauth := k.KafkaSASL == broker.OAuthBearer
	switch {
	case !k.KafkaTLS && (k.KafkaCA != "" || k.KafkaCert != "" || k.KafkaServerName != ""):
		return errors.New("NETSIM_KAFKA_TLS is not true: it must be, because NETSIM_KAFKA_CA, NETSIM_KAFKA_CERT or NETSIM_KAFKA_SERVER_NAME is set")
	case (k.KafkaCert == "") != (k.KafkaKey == ""):
		return errors.New("one of NETSIM_KAFKA_CERT and NETSIM_KAFKA_KEY is set: it must be both or neither")
	case k.KafkaSASL == "" && (k.KafkaUser != "" || k.KafkaPassword != ""):
		return errors.New("NETSIM_KAFKA_SASL is not set: it must be, because NETSIM_KAFKA_USER or NETSIM_KAFKA_PASSWORD is set")
	case !oauth && (k.KafkaTokenFile != "" || k.KafkaTokenURL != "" || k.KafkaClientID != "" || k.KafkaClientSecret != "" || k.KafkaScope != ""):
		return fmt.Errorf("NETSIM_KAFKA_SASL is %q: it must be OAUTHBEARER, because a setting NETSIM_KAFKA_OAUTH_… is set", k.KafkaSASL)
	case k.KafkaSASL != "" && !oauth && (k.KafkaUser == "" || k.KafkaPassword == ""):
		return fmt.Errorf("NETSIM_KAFKA_SASL is %q: NETSIM_KAFKA_USER and NETSIM_KAFKA_PASSWORD must be set", k.KafkaSASL)
	case oauth && (k.KafkaUser != "" || k.KafkaPassword != ""):
		return errors.New("NETSIM_KAFKA_SASL is \"OAUTHBEARER\": NETSIM_KAFKA_USER and NETSIM_KAFKA_PASSWORD must not be set")
	case oauth && (k.KafkaTokenFile == "") == (k.KafkaTokenURL == ""):
		return errors.New("NETSIM_KAFKA_SASL is \"OAUTHBEARER\": one of NETSIM_KAFKA_OAUTH_TOKEN_FILE and NETSIM_KAFKA_OAUTH_TOKEN_URL must be set, and not both")
	case k.KafkaTokenURL != "" && (k.KafkaClientID == "" || k.KafkaClientSecret == ""):
		return errors.New("NETSIM_KAFKA_OAUTH_TOKEN_URL is set: NETSIM_KAFKA_OAUTH_CLIENT_ID and NETSIM_KAFKA_OAUTH_CLIENT_SECRET must be set too")
	case !development && !k.KafkaTLS && (k.KafkaSASL == broker.Plain || oauth):
		return fmt.Errorf("NETSIM_KAFKA_SASL is %q: NETSIM_KAFKA_TLS must be true, because it sends a secret that others could read, unless NETSIM_DATA_DEV is true", k.KafkaSASL)
	}
	return nil
}

// Connector returns how to connect to Kafka.
func (k *KafkaAccess) Connector(log *slog.Logger) (*broker.Connector, error) {
	c := broker.Config{Log: log}
	if k.KafkaTLS {
		c.TLS = &broker.TLS{CA: k.KafkaCA, Cert: k.KafkaCert, Key: k.KafkaKey, ServerName: k.KafkaServerName}
	}
	if k.KafkaSASL != "" {
		c.SASL = &broker.SASL{
			Mechanism: k.KafkaSASL, User: k.KafkaUser, Password: k.KafkaPassword,
			OAuth: broker.OAuth{
				TokenFile: k.KafkaTokenFile, TokenURL: k.KafkaTokenURL,
				ClientID: k.KafkaClientID, ClientSecret: k.KafkaClientSecret, Scope: k.KafkaScope,
			},
		}
	}
	n, err := broker.New(c)
	if err != nil {
		return nil, fmt.Errorf("the settings of Kafka cannot be used: %w", err)
	}
	return n, nil
}
