package publisher

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/IBM/sarama"
)

// maxMessage bounds a batch, and so a record, in bytes. It is larger than the log's
// limit by more than the headers that only public records have.
const maxMessage = 8<<20 + 256<<10

// The limits of a client. Retries bridge the election of a leader, and the end of a former
// transaction.
const (
	dialTimeout        = 3 * time.Second
	answerTimeout      = 5 * time.Second
	transactionTimeout = 30 * time.Second // after which the broker aborts a transaction that nobody ends
	retries            = 20
	retryPause         = 50 * time.Millisecond
)

// sarama returns the settings of all clients.
func (c *Config) sarama() *sarama.Config {
	s := sarama.NewConfig()
	s.ClientID = "netsim-publisher"
	s.Version = sarama.V2_8_0_0 // the first with topic ids
	s.Net.DialTimeout, s.Net.ReadTimeout, s.Net.WriteTimeout = dialTimeout, answerTimeout, answerTimeout
	s.Net.MaxOpenRequests = 1
	s.Metadata.Retry.Max, s.Metadata.Retry.Backoff = 4, retryPause
	s.Metadata.AllowAutoTopicCreation = false
	c.Connect.Configure(s)
	if c.dial != nil {
		s.Net.Proxy.Enable, s.Net.Proxy.Dialer = true, dialer(c.dial)
	}
	return s
}

// dialer implements the interface that sarama dials by.
type dialer func(network, address string) (net.Conn, error)

// Dial opens a connection.
func (d dialer) Dial(network, address string) (net.Conn, error) { return d(network, address) }

// producing returns the settings of the client of a shard. One transactional id for each
// shard means that a new holder of the shard fences the former one.
func (c *Config) producing(shard int32, transactions bool) *sarama.Config {
	s := c.sarama()
	p := &s.Producer
	p.Idempotent, p.RequiredAcks = true, sarama.WaitForAll
	p.Return.Successes, p.Return.Errors = true, true
	p.Partitioner = sarama.NewManualPartitioner
	p.Compression = sarama.CompressionZSTD
	p.CompressionLevel = 1
	p.MaxMessageBytes = maxMessage
	p.Retry.Max, p.Retry.Backoff = retries, retryPause
	if transactions {
		p.Transaction.ID = Group(c.Prefix) + "." + strconv.Itoa(int(shard))
		p.Transaction.Timeout = transactionTimeout
		p.Transaction.Retry.Max, p.Transaction.Retry.Backoff = retries, retryPause
	}
	return s
}

// The requests of transactions, by their keys in Kafka's protocol.
func transactionKeys() []int16 {
	return []int16{
		22, // InitProducerId
		24, // AddPartitionsToTxn
		25, // AddOffsetsToTxn
		26, // EndTxn
		28, // TxnOffsetCommit
	}
}

// transactions reports whether to publish in transactions: if the settings do not say
// otherwise and the brokers have them. It asks a broker which requests it knows.
func (c *Config) transactions() (bool, error) {
	if c.Untransacted {
		return false, nil
	}
	client, err := sarama.NewClient(c.Brokers, c.sarama())
	if err != nil {
		return false, fmt.Errorf("connect: %w", err)
	}
	defer client.Close() //nolint:errcheck // the answer is complete or failed
	broker := client.LeastLoadedBroker()
	if broker == nil {
		return false, sarama.ErrOutOfBrokers
	}
	if err := broker.Open(client.Config()); err != nil && err != sarama.ErrAlreadyConnected {
		return false, fmt.Errorf("connect: %w", err)
	}
	res, err := broker.ApiVersions(&sarama.ApiVersionsRequest{})
	if err != nil {
		return false, fmt.Errorf("ask which requests the broker knows: %w", err)
	}
	return knowsTransactions(res.ApiKeys), nil
}

func knowsTransactions(known []sarama.ApiVersionsResponseKey) bool {
	for _, key := range transactionKeys() {
		if !slices.ContainsFunc(known, func(k sarama.ApiVersionsResponseKey) bool { return k.ApiKey == key }) {
			return false
		}
	}
	return true
}
