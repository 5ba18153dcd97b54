package broker

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"net"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

// Configure sets how clients of sarama connect. Other settings stay. sarama
// authenticates again before a broker's limit of a session's time.
func (n *Connector) Configure(c *sarama.Config) {
	c.Net.Proxy.Enable, c.Net.Proxy.Dialer = true, dialer{n, c.Net.DialTimeout}
	c.MetricRegistry = noMetrics{c.MetricRegistry}
	if n == nil || n.config.SASL == nil {
		return
	}
	s := n.config.SASL
	c.Net.SASL.Enable, c.Net.SASL.Mechanism = true, sarama.SASLMechanism(s.Mechanism)
	c.Net.SASL.Version, c.Net.SASL.Handshake = sarama.SASLHandshakeV1, true
	switch s.Mechanism {
	case OAuthBearer:
		c.Net.SASL.TokenProvider = tokenProvider{n.tokens}
	case SCRAM256:
		c.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &scramClient{hash: sha256.New} }
	case SCRAM512:
		c.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &scramClient{hash: sha512.New} }
	}
	c.Net.SASL.User, c.Net.SASL.Password = s.User, s.Password
}

// dialer implements the interface that sarama dials by.
type dialer struct {
	connector *Connector
	timeout   time.Duration // sarama's for a connection; the handshake has its own
}

// Dial opens a connection.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d.timeout+handshakeTimeout)
	defer cancel()
	return d.connector.Dial(ctx, network, address)
}

// tokenProvider implements sarama.AccessTokenProvider.
type tokenProvider struct{ tokens *tokens }

// Token returns the token to authenticate with.
func (p tokenProvider) Token() (*sarama.AccessToken, error) {
	token, err := p.tokens.get(context.Background())
	if err != nil {
		return nil, err
	}
	return &sarama.AccessToken{Token: token}, nil
}

// scramClient implements sarama.SCRAMClient for one authentication.
type scramClient struct {
	hash         scram.HashGeneratorFcn
	conversation *scram.ClientConversation
}

// Begin starts an authentication.
func (s *scramClient) Begin(user, password, identity string) error {
	client, err := s.hash.NewClient(user, password, identity)
	if err != nil {
		return err
	}
	s.conversation = client.NewConversation()
	return nil
}

// Step answers the broker's challenge.
func (s *scramClient) Step(challenge string) (string, error) { return s.conversation.Step(challenge) }

// Done reports whether the authentication has ended.
func (s *scramClient) Done() bool { return s.conversation.Done() }
