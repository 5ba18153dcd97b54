package eventlog

import (
	"cmp"
	"context"
	"errors"
	"net"
	"time"

	"netsim/events"
	"netsim/infra/broker"
)

// DefaultPrefix is the default prefix of topic names.
const DefaultPrefix = "netsim."

// Config says which event log to use and how. Only Brokers is required.
type Config struct {
	Brokers []string          // host:port of some brokers of the cluster
	Connect *broker.Connector // how to connect to them; nil: in plain TCP
	Prefix  string            // prefix of topic names; default DefaultPrefix
	Beside  []string          // names of other topics that are also read and appended to

	// Partitions and Replication apply to topics that Ensure creates; defaults 4
	// and the broker's own default.
	Partitions  int32
	Replication int

	// Relaxed makes Check accept topics that can lose facts with one broker. For
	// development only.
	Relaxed bool

	// MaxRecord bounds a record: key, value and headers as they are stored, in
	// bytes; default 8 MiB. Ensure creates topics with a limit that allows it.
	MaxRecord int

	// MaxQueued and MaxQueuedBytes bound the records that are queued or in flight
	// for one partition; beyond them Append refuses. Defaults 32,768 and 64 MiB.
	MaxQueued      int
	MaxQueuedBytes int

	// AppendTimeout is how long after Append a record may still be sent; default
	// 10 s. One try takes at most a third of it.
	AppendTimeout time.Duration

	// Appended, when set, is called with the outcome of every queued record and the
	// time since its Append. err is nil, or wraps ErrNotWritten or ErrUnknown.
	Appended func(topic string, took time.Duration, err error)

	// Requested, when set, is called for every request that is sent to a broker, with the
	// name of the API in Kafka's protocol, such as Fetch.
	Requested func(api string)

	// dial, when set, replaces the network dialer of appends and reads.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Topic returns the name of the family's topic.
func (c Config) Topic(family events.Family) string {
	return cmp.Or(c.Prefix, DefaultPrefix) + string(family)
}

// topics returns the names of all topics, in the order of events.Families.
func (c Config) topics() []string {
	names := make([]string, 0, 8)
	for _, family := range events.Families() {
		names = append(names, c.Topic(family))
	}
	return names
}

func (c Config) withDefaults() (Config, error) {
	if len(c.Brokers) == 0 {
		return c, errors.New("no address of a Kafka broker is configured")
	}
	c.Prefix = cmp.Or(c.Prefix, DefaultPrefix)
	c.Partitions = cmp.Or(c.Partitions, 4)
	c.Replication = cmp.Or(c.Replication, -1)
	c.MaxRecord = cmp.Or(c.MaxRecord, 8<<20)
	c.MaxQueued = cmp.Or(c.MaxQueued, 32<<10)
	c.MaxQueuedBytes = cmp.Or(c.MaxQueuedBytes, 64<<20)
	c.AppendTimeout = cmp.Or(c.AppendTimeout, 10*time.Second)
	if c.Appended == nil {
		c.Appended = func(string, time.Duration, error) {}
	}
	if c.Requested == nil {
		c.Requested = func(string) {}
	}
	if c.dial == nil {
		c.dial = c.Connect.Dial
	}
	return c, nil
}
