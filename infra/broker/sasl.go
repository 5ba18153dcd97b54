package broker

import (
	"fmt"

	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// addSASL makes the mechanism that kafka-go uses.
func (n *Connector) addSASL(s SASL) (err error) {
	if s.Mechanism == OAuthBearer {
		if n.tokens, err = newTokens(s.OAuth, n.config.Now, n.config.Log); err == nil {
			n.mechanism = bearer{n.tokens}
		}
		return err
	}
	if s.User == "" || s.Password == "" {
		return fmt.Errorf("%s needs a user and a password", s.Mechanism)
	}
	switch s.Mechanism {
	case Plain:
		n.mechanism = plain.Mechanism{Username: s.User, Password: s.Password}
	case SCRAM256:
		n.mechanism, err = scram.Mechanism(scram.SHA256, s.User, s.Password)
	case SCRAM512:
		n.mechanism, err = scram.Mechanism(scram.SHA512, s.User, s.Password)
	default:
		return fmt.Errorf("%q is no mechanism of SASL: it must be one of %s, %s, %s, %s", s.Mechanism, Plain, SCRAM256, SCRAM512, OAuthBearer)
	}
	if err != nil {
		return fmt.Errorf("the user or the password cannot be used with %s: it must be text without control characters", s.Mechanism)
	}
	return nil
}
