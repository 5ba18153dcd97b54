package broker

import (
	"time"

	"github.com/segmentio/kafka-go"
)

// Transport returns a transport for clients of kafka-go. The caller may set its other
// fields, and closes its idle connections.
func (n *Connector) Transport() *kafka.Transport {
	t := &kafka.Transport{Dial: n.Dial, DialTimeout: connectTimeout + handshakeTimeout}
	if n != nil {
		t.SASL = n.mechanism
	}
	return t
}

// Dialer returns a dialer for readers and connections of kafka-go.
func (n *Connector) Dialer() *kafka.Dialer {
	d := &kafka.Dialer{DialFunc: n.Dial, Timeout: connectTimeout + handshakeTimeout}
	if n != nil {
		d.SASLMechanism = n.mechanism
	}
	return d
}

// Client returns a client of kafka-go for the brokers at the addresses. The timeout
// bounds a request.
func (n *Connector) Client(addresses []string, timeout time.Duration) *kafka.Client {
	return &kafka.Client{Addr: kafka.TCP(addresses...), Timeout: timeout, Transport: n.Transport()}
}
