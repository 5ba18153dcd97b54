package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
)

// bearer is the SASL mechanism OAUTHBEARER (RFC 7628) for kafka-go.
type bearer struct{ tokens *tokens }

// Name returns the mechanism's name.
func (bearer) Name() string { return OAuthBearer }

// Start returns the initial response: a GS2 header without an identity, and the token.
func (b bearer) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	token, err := b.tokens.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &bearerSession{}, []byte("n,,\x01auth=Bearer " + token + "\x01\x01"), nil
}

// bearerSession is one authentication. The broker answers with nothing, or with the
// reason of its refusal, which the client acknowledges before the broker ends the
// authentication (RFC 7628 section 3.2.3).
type bearerSession struct{ refusal error }

// Next answers the broker.
func (s *bearerSession) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	switch {
	case s.refusal != nil: // the broker did not end the authentication
		return false, nil, s.refusal
	case len(challenge) == 0:
		return true, nil, nil
	}
	s.refusal = refusalOf(challenge)
	return false, []byte{1}, nil
}

// maxRefusal bounds the text of a refusal that is read, in bytes.
const maxRefusal = 16 << 10

// refusalOf reads the reason of a refusal (RFC 7628 section 3.2.2).
func refusalOf(challenge []byte) error {
	var reason struct {
		Status string `json:"status"`
	}
	if len(challenge) > maxRefusal || json.Unmarshal(challenge, &reason) != nil || reason.Status == "" {
		return fmt.Errorf("the broker refused the token")
	}
	return fmt.Errorf("the broker refused the token: %s", printable(reason.Status))
}

// printable returns a short text of a peer without control characters.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), 80)]
}
