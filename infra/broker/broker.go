// Package broker says how a process connects to Kafka's brokers: in plain TCP, by TLS
// or by mutual TLS, and as which user (SASL). A Connector gives the same connections to
// both client libraries, kafka-go and sarama. No other package configures TLS or SASL
// for Kafka.
//
// The files of certificates are read again when they change, so certificates are
// rotated without a restart. A new file that cannot be used is counted and logged once,
// and the former one stays in use. OAuth tokens are renewed before they expire.
package broker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/segmentio/kafka-go/sasl"
)

// Config says how to connect. Its zero value connects in plain TCP without a user.
type Config struct {
	TLS  *TLS  // nil: plain TCP
	SASL *SASL // nil: no user, or the one in the client certificate

	Log *slog.Logger // nil: slog.Default

	// Now, when set, is the clock of tokens.
	Now func() time.Time

	// Dial, when set, opens the TCP connections.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// TLS says how brokers prove who they are, and how this process does.
type TLS struct {
	CA         string // path of a PEM file with the authorities to trust; "" trusts those of the system
	Cert, Key  string // paths of the PEM files of the client certificate and its key, both or neither
	ServerName string // the name in the brokers' certificates; "" is the host of the address
}

// The mechanisms of SASL.
const (
	Plain       = "PLAIN"
	SCRAM256    = "SCRAM-SHA-256"
	SCRAM512    = "SCRAM-SHA-512"
	OAuthBearer = "OAUTHBEARER"
)

// SASL says as which user to connect.
type SASL struct {
	Mechanism string // Plain, SCRAM256, SCRAM512 or OAuthBearer

	User, Password string // of Plain, SCRAM256 and SCRAM512

	OAuth OAuth // of OAuthBearer
}

const (
	connectTimeout   = 3 * time.Second
	handshakeTimeout = 5 * time.Second
)

// Connector opens connections to brokers. A nil Connector connects in plain TCP. It is
// safe for concurrent use.
type Connector struct {
	config    Config
	files     *files // nil: plain TCP
	mechanism sasl.Mechanism
	tokens    *tokens // nil: no OAuth
}

// New reads the files of the certificates and checks the settings. It does not connect.
func New(c Config) (*Connector, error) {
	c.Log = cmp.Or(c.Log, slog.Default())
	if c.Now == nil {
		c.Now = time.Now
	}
	n := &Connector{config: c}
	var err error
	if c.TLS != nil {
		if n.files, err = openFiles(*c.TLS, c.Log); err != nil {
			return nil, err
		}
	}
	if c.SASL != nil {
		if err = n.addSASL(*c.SASL); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Dial opens a connection to the broker at the address, host:port, and ends the TLS
// handshake. It is bounded by ctx and by eight seconds. Its errors are of the type
// *net.OpError with the operation "dial": nothing was sent to the broker.
func (n *Connector) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := n.connect(ctx, network, address)
	if err != nil || n == nil || n.files == nil {
		return conn, err
	}
	secure, err := n.files.handshake(ctx, conn, address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: conn.RemoteAddr(), Err: errors.Join(err, ignore(conn.Close()))}
	}
	return secure, nil
}

// ignore drops the error of closing a connection that has failed.
func ignore(error) error { return nil }

func (n *Connector) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if n != nil && n.config.Dial != nil {
		return n.config.Dial(ctx, network, address)
	}
	return (&net.Dialer{Timeout: connectTimeout}).DialContext(ctx, network, address)
}

// Secure reports whether connections use TLS.
func (n *Connector) Secure() bool { return n != nil && n.files != nil }

// User returns the user of SASL, "" without one and under OAuth.
func (n *Connector) User() string {
	if n == nil || n.config.SASL == nil {
		return ""
	}
	return n.config.SASL.User
}

// Report is the state of the certificates and tokens.
type Report struct {
	CAUntil     time.Time // when the first authority in the CA file expires; zero without a file
	CertUntil   time.Time // when the client certificate expires; zero without one
	BrokerUntil time.Time // when the first of the brokers' certificates expires, of those seen; zero for none
	TokenUntil  time.Time // when the OAuth token expires; zero without one or if it is not known

	Reloads        int64 // changed files that came into use
	ReloadFailures int64 // changed files that cannot be used
	TokenFailures  int64 // times that the token endpoint gave no token, or that the token file became unreadable
	Handshakes     int64 // TLS handshakes
	BadHandshakes  int64 // TLS handshakes that failed
}

// Report returns the state of the certificates and tokens. It makes no calls.
func (n *Connector) Report() Report {
	var r Report
	if n == nil {
		return r
	}
	if n.files != nil {
		n.files.report(&r)
	}
	if n.tokens != nil {
		n.tokens.report(&r)
	}
	return r
}

// Check reads the changed files again, certificates and the token, and returns what is
// wrong with them now, although former certificates may still be in use. It does not
// connect.
func (n *Connector) Check() error {
	if n == nil {
		return nil
	}
	var errs []error
	if n.files != nil {
		errs = append(errs, n.files.check())
	}
	if n.tokens != nil && n.tokens.TokenFile != "" {
		_, err := n.tokens.fromFile()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
