package eventlog

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// fetchVersion is the last version of the Fetch API without flexible fields.
// Apache Kafka 2.3 to 4.x has it.
const fetchVersion = 11

// maxResponse bounds the size of a fetch response, in bytes. A broker exceeds the
// requested size by at most one batch.
const maxResponse = 512 << 20

// fetchRequest fetches record batches of one partition from its leader. kafka-go
// routes the request and pools connections. This package encodes it, so that the
// response is read into one buffer and decoded in place.
type fetchRequest struct {
	topic     string
	partition int32
	from      int64
	maxBytes  int32
	wait      time.Duration
}

// fetched is the answer to a fetchRequest.
type fetched struct {
	throttle  time.Duration
	highWater int64
	set       []byte // record batches; the last one may be truncated
}

func (*fetchRequest) ApiKey() protocol.ApiKey { return protocol.Fetch }
func (*fetched) ApiKey() protocol.ApiKey      { return protocol.Fetch }

// Broker returns the partition's leader.
func (r *fetchRequest) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	topic, ok := cluster.Topics[r.topic]
	if !ok {
		return protocol.Broker{}, protocol.NewErrNoTopic(r.topic)
	}
	partition, ok := topic.Partitions[r.partition]
	if !ok {
		return protocol.Broker{}, protocol.NewErrNoPartition(r.topic, r.partition)
	}
	leader, ok := cluster.Brokers[partition.Leader]
	if !ok {
		return protocol.Broker{}, protocol.NewErrNoLeader(r.topic, r.partition)
	}
	return leader, nil
}

// Required tells kafka-go to call RawExchange.
func (*fetchRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange sends the request and reads its answer.
func (r *fetchRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if _, err := rw.Write(r.encode()); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxResponse {
		return nil, fmt.Errorf("a fetch response of %d bytes, more than %d", size, maxResponse)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(rw, body); err != nil {
		return nil, err
	}
	return decodeFetched(body)
}

func (r *fetchRequest) encode() []byte {
	be := binary.BigEndian
	b := make([]byte, 4, 128+len(r.topic))
	b = be.AppendUint16(b, uint16(protocol.Fetch))
	b = be.AppendUint16(b, fetchVersion)
	b = be.AppendUint32(b, 0)          // correlation: one request at a time
	b = be.AppendUint16(b, ^uint16(0)) // no client id
	b = be.AppendUint32(b, ^uint32(0)) // replica: none, a consumer
	b = be.AppendUint32(b, uint32(r.wait.Milliseconds()))
	b = be.AppendUint32(b, 1) // minimum bytes
	b = be.AppendUint32(b, uint32(r.maxBytes))
	b = append(b, 0)                   // read uncommitted
	b = be.AppendUint32(b, 0)          // no session
	b = be.AppendUint32(b, ^uint32(0)) // session epoch: do not create one
	b = be.AppendUint32(b, 1)          // topics
	b = be.AppendUint16(b, uint16(len(r.topic)))
	b = append(b, r.topic...)
	b = be.AppendUint32(b, 1) // partitions
	b = be.AppendUint32(b, uint32(r.partition))
	b = be.AppendUint32(b, ^uint32(0)) // leader epoch: unknown
	b = be.AppendUint64(b, uint64(r.from))
	b = be.AppendUint64(b, ^uint64(0)) // log start: sent by replicas only
	b = be.AppendUint32(b, uint32(r.maxBytes))
	b = be.AppendUint32(b, 0) // forgotten topics
	b = be.AppendUint16(b, 0) // rack
	be.PutUint32(b, uint32(len(b)-4))
	return b
}

// decodeFetched decodes the response. An error code of the broker is returned as a
// kafka.Error.
func decodeFetched(body []byte) (*fetched, error) {
	c := cursor{rest: body}
	c.int32() // correlation
	res := &fetched{throttle: time.Duration(c.int32()) * time.Millisecond}
	failure := c.int16()
	c.int32() // session
	if topics := c.int32(); failure == 0 && topics != 1 {
		return nil, fmt.Errorf("a fetch response with %d topics, want 1", topics)
	}
	c.take(int(c.int16())) // name
	if partitions := c.int32(); failure == 0 && partitions != 1 {
		return nil, fmt.Errorf("a fetch response with %d partitions, want 1", partitions)
	}
	c.int32() // partition
	if code := c.int16(); failure == 0 {
		failure = code
	}
	if failure != 0 {
		return nil, kafka.Error(failure)
	}
	res.highWater = c.int64()
	c.take(16)                             // last stable offset, log start
	c.take(int(max(c.int32(), 0)) * 2 * 8) // aborted transactions
	c.int32()                              // preferred replica
	res.set = c.take(int(max(c.int32(), 0)))
	if c.broken {
		return nil, fmt.Errorf("a fetch response that ends early: %w", io.ErrUnexpectedEOF)
	}
	return res, nil
}
