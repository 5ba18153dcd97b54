package broker

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
)

// refusedError is an error of either library with one sentence for the operator.
type refusedError struct {
	sentence string
	cause    error
	answered bool // the listener answers in another way
}

func (e refusedError) Error() string { return e.sentence }
func (e refusedError) Unwrap() error { return e.cause }

// Refused reports whether an explained error says that the brokers refuse the settings, so
// that another try is in vain. A connection that breaks is a refusal only if the listener
// answers in another way.
func Refused(err error) bool {
	refused, ok := errors.AsType[refusedError](err)
	return ok && (refused.answered || !broken(refused.cause))
}

// closed reports whether the other side has closed the connection.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "connection reset by peer")
}

// broken reports whether the connection was closed, or had no answer in time.
func broken(err error) bool {
	late, ok := errors.AsType[net.Error](err)
	return closed(err) || ok && late.Timeout()
}

// Explain replaces the text of an error of either library by one sentence if it comes
// from TLS or SASL. The sentence has no secret. Other errors are returned as they are.
func (n *Connector) Explain(err error) error {
	if err == nil {
		return nil
	}
	if handshake, ok := errors.AsType[handshakeError](err); ok {
		return refusedError{sentence: handshake.Error(), cause: err}
	}
	if sentence := n.refusal(err); sentence != "" {
		return refusedError{sentence: sentence, cause: err}
	}
	return err
}

// refusal returns the sentence for an error after the handshake, or "".
func (n *Connector) refusal(err error) string {
	switch {
	case isCode(err, kafka.SASLAuthenticationFailed, sarama.ErrSASLAuthenticationFailed):
		if n != nil && n.tokens != nil {
			return "the brokers refused the OAuth token"
		}
		return fmt.Sprintf("the brokers refused the user %q: the password is wrong, or the user is unknown to %s", n.User(), n.mechanismName())
	case isCode(err, kafka.UnsupportedSASLMechanism, sarama.ErrUnsupportedSASLMechanism):
		return fmt.Sprintf("the brokers' listener does not offer the SASL mechanism %s", n.mechanismName())
	case isCode(err, kafka.IllegalSASLState, sarama.ErrIllegalSASLState):
		return "the brokers' listener takes no users by SASL"
	}
	// In TLS 1.3 a client certificate is refused after the client's handshake.
	if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" && n.Secure() {
		return n.certificateRefused(alert.Err)
	}
	return ""
}

func (n *Connector) certificateRefused(alert error) string {
	reason := strings.TrimPrefix(alert.Error(), "tls: ")
	until := n.Report().CertUntil
	if until.IsZero() {
		return fmt.Sprintf("the brokers refused the connection (%s): no client certificate is set", reason)
	}
	return fmt.Sprintf("the brokers refused the client certificate %s (%s), which expires at %s", n.config.TLS.Cert, reason, until.UTC().Format(time.RFC3339))
}

func (n *Connector) mechanismName() string {
	if n == nil || n.config.SASL == nil {
		return ""
	}
	return n.config.SASL.Mechanism
}

// isCode reports whether an error of either library has the code.
func isCode(err error, ours kafka.Error, theirs sarama.KError) bool {
	return errors.Is(err, ours) || errors.Is(err, theirs)
}
