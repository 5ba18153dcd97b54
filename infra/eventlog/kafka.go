package eventlog

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
)

const (
	clientID = "netsim"
	// queryTimeout is how long a query is repeated after transient errors, such as
	// a missing leader. A pooled connection that broke when the broker restarted
	// costs one try.
	queryTimeout = 2 * time.Second
	// answerTimeout bounds one try of a query.
	answerTimeout = 10 * time.Second
)

// Kafka is the event log in Apache Kafka or another broker with its protocol. It is
// safe for concurrent use.
type Kafka struct {
	Config
	client    *kafka.Client // for queries
	producer  *kafka.Client
	transport counted
	tails     *tails
	running   context.Context // ends at Close
	close     context.CancelFunc
	loops     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	queues map[topicPartition]*queue

	throttledUntil atomic.Int64 // Unix time in nanoseconds
}

type topicPartition struct {
	topic     string
	partition int32
}

// Open returns the event log once one of its brokers has answered.
func Open(ctx context.Context, c Config) (*Kafka, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.Background())
	transport := c.Connect.Transport()
	transport.Dial = c.dial
	transport.IdleTimeout = 5 * time.Minute
	transport.MetadataTTL = time.Second // how soon a moved leader is found
	transport.MetadataTopics = append(c.topics(), c.Beside...)
	transport.ClientID = clientID
	transport.Context = running
	address, requests := kafka.TCP(c.Brokers...), counted{transport, c.Requested}
	k := &Kafka{
		Config:    c,
		client:    &kafka.Client{Addr: address, Timeout: answerTimeout, Transport: requests},
		producer:  &kafka.Client{Addr: address, Timeout: c.AppendTimeout / 3, Transport: requests},
		transport: requests,
		running:   running,
		close:     cancel,
		queues:    map[topicPartition]*queue{},
		tails:     newTails(tailBytes),
	}
	if err := k.connect(ctx); err != nil {
		cancel()
		return nil, fmt.Errorf("no Kafka broker answers at %s: %w", strings.Join(c.Brokers, ", "), err)
	}
	return k, nil
}

// counted is a transport that reports every request.
type counted struct {
	*kafka.Transport
	requested func(api string)
}

func (c counted) RoundTrip(ctx context.Context, to net.Addr, req kafka.Request) (kafka.Response, error) {
	c.requested(req.ApiKey().String())
	return c.Transport.RoundTrip(ctx, to, req)
}

// connect asks the brokers until one has answered.
func (k *Kafka) connect(ctx context.Context) error {
	_, err := k.metadata(ctx, k.topics())
	return k.Connect.ExplainClosed(ctx, k.Brokers, err)
}

// Close closes the event log. Queued appends end with ErrNotWritten, appends in
// flight with ErrUnknown.
func (k *Kafka) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.close()
	k.loops.Wait()
	k.transport.CloseIdleConnections()
}

// Throttled returns how much of the broker's last throttle time remains.
func (k *Kafka) Throttled() time.Duration {
	return max(0, time.Until(time.Unix(0, k.throttledUntil.Load())))
}

func (k *Kafka) noteThrottle(d time.Duration) {
	if d > 0 {
		k.throttledUntil.Store(time.Now().Add(d).UnixNano())
	}
}

// ask repeats a query, which must be safe to repeat, after transient errors within
// queryTimeout.
func (k *Kafka) ask(ctx context.Context, query func(context.Context) error) error {
	retrying, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	for pause := retries(); ; {
		err := query(ctx)
		if err == nil || !transient(err) || !pause(retrying) {
			return err
		}
	}
}

// transient reports whether a query that failed with err may succeed when repeated.
func transient(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errCorrupt) {
		return false
	}
	code, ok := errors.AsType[kafka.Error](err)
	// kafka-go also returns Unknown for a broken connection.
	return !ok || code.Temporary() || code == kafka.Unknown
}

// end returns the partition's end: the offset that the next record gets.
func (k *Kafka) end(ctx context.Context, topic string, partition int32) (int64, error) {
	res, err := k.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{topic: {kafka.LastOffsetOf(int(partition))}},
	})
	if err != nil {
		return 0, err
	}
	for _, p := range res.Topics[topic] {
		// The error of a broken connection arrives here too, with offset -1.
		if p.Error != nil {
			return 0, p.Error
		}
		if p.LastOffset >= 0 {
			return p.LastOffset, nil
		}
	}
	return 0, fmt.Errorf("the broker returned no end offset for %s/%d", topic, partition)
}
