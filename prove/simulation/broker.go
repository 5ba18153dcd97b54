//go:build faketime

package dst

import (
	"encoding/binary"
	"io"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// broker is a simulated Kafka broker: it speaks the protocol and keeps what it
// acknowledges, unless a fault says otherwise.
type broker struct {
	w        *world
	topics   map[string]*topic
	order    []*topic // as they were made
	groups   map[groupPartition]committed
	epoch    int32
	produced int
}

type topic struct {
	name       string
	id         [16]byte
	settings   []kmsg.CreateTopicsRequestTopicConfig
	partitions []*partitionLog
}

type partitionLog struct {
	batches []storedBatch
	next    int64
	grown   chan struct{} // closed when a batch is appended
}

type storedBatch struct {
	base, next int64
	bytes      []byte
}

type groupPartition struct {
	group, topic string
	partition    int32
}

type committed struct {
	offset   int64
	metadata string
}

const clusterID = "simulated-cluster"

func newBroker(w *world) *broker {
	return &broker{w: w, topics: map[string]*topic{}, groups: map[groupPartition]committed{}}
}

// The error codes of the protocol.
const (
	codeOutOfRange   = 1
	codeUnknownTopic = 3
	codeUnsupported  = 35
	codeTopicExists  = 36
)

// serve answers the requests of a connection, one after the other.
func (b *broker) serve(c *conn) {
	defer c.Close()
	for {
		var head [4]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		key, version := int16(binary.BigEndian.Uint16(body)), int16(binary.BigEndian.Uint16(body[2:]))
		correlation := binary.BigEndian.Uint32(body[4:])
		req := kmsg.RequestForKey(key)
		if req == nil {
			b.w.fail("the broker got a request with the unknown key %d", key)
			return
		}
		req.SetVersion(version)
		rest := body[8:]
		if n := int16(binary.BigEndian.Uint16(rest)); n < 0 { // the client's id
			rest = rest[2:]
		} else {
			rest = rest[2+n:]
		}
		if req.IsFlexible() {
			rest = skipTags(rest)
		}
		if err := req.ReadFrom(rest); err != nil {
			b.w.fail("the broker cannot read a request %s version %d: %v", kmsg.NameForKey(key), version, err)
			return
		}
		b.w.pauseBroker()
		res := b.answer(c, req)
		if res == nil {
			continue
		}
		res.SetVersion(version)
		out := binary.BigEndian.AppendUint32(make([]byte, 4, 256), correlation)
		if res.IsFlexible() && key != 18 { // ApiVersions' header has no tags
			out = append(out, 0)
		}
		out = res.AppendTo(out)
		binary.BigEndian.PutUint32(out, uint32(len(out)-4))
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// skipTags skips the tagged fields of a header.
func skipTags(b []byte) []byte {
	count, n := binary.Uvarint(b)
	b = b[n:]
	for range count {
		_, n := binary.Uvarint(b)
		b = b[n:]
		size, n := binary.Uvarint(b)
		b = b[n+int(size):]
	}
	return b
}

func (b *broker) answer(c *conn, req kmsg.Request) kmsg.Response {
	switch r := req.(type) {
	case *kmsg.ApiVersionsRequest:
		return b.apiVersions(r)
	case *kmsg.MetadataRequest:
		return b.metadata(c, r)
	case *kmsg.CreateTopicsRequest:
		return b.createTopics(r)
	case *kmsg.DescribeConfigsRequest:
		return b.describeConfigs(r)
	case *kmsg.ListOffsetsRequest:
		return b.listOffsets(r)
	case *kmsg.ProduceRequest:
		return b.produce(r)
	case *kmsg.FetchRequest:
		return b.fetch(r)
	case *kmsg.FindCoordinatorRequest:
		res := r.ResponseKind().(*kmsg.FindCoordinatorResponse)
		port, _ := strconv.Atoi(c.port)
		res.Host, res.Port = c.host, int32(port)
		return res
	case *kmsg.OffsetFetchRequest:
		return b.offsetFetch(r)
	case *kmsg.OffsetCommitRequest:
		return b.offsetCommit(r)
	case *kmsg.InitProducerIDRequest:
		res := r.ResponseKind().(*kmsg.InitProducerIDResponse)
		b.produced++
		res.ProducerID = int64(b.produced)
		return res
	}
	b.w.fail("the broker does not know how to answer %s", kmsg.NameForKey(req.Key()))
	return nil
}

// apiVersions lists what the broker can answer.
func (b *broker) apiVersions(r *kmsg.ApiVersionsRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.ApiVersionsResponse)
	for _, one := range [][2]int16{{0, 8}, {1, 11}, {2, 5}, {3, 10}, {8, 7}, {9, 5}, {10, 2}, {18, 2}, {19, 4}, {22, 3}, {32, 3}} {
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MaxVersion = one[0], one[1]
		res.ApiKeys = append(res.ApiKeys, k)
	}
	return res
}

func (b *broker) metadata(c *conn, r *kmsg.MetadataRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.MetadataResponse)
	cluster := clusterID
	res.ClusterID, res.ControllerID = &cluster, 0
	node := kmsg.NewMetadataResponseBroker()
	port, _ := strconv.Atoi(c.port)
	node.Host, node.Port = c.host, int32(port)
	res.Brokers = []kmsg.MetadataResponseBroker{node}
	names := []string{}
	for _, t := range r.Topics {
		if t.Topic != nil {
			names = append(names, *t.Topic)
		}
	}
	if r.Topics == nil || r.Version == 0 && len(names) == 0 {
		for _, t := range b.order {
			names = append(names, t.name)
		}
	}
	for _, name := range names {
		t := kmsg.NewMetadataResponseTopic()
		t.Topic = &name
		known := b.topics[name]
		if known == nil {
			t.ErrorCode = codeUnknownTopic
		} else {
			t.TopicID = known.id
			for i := range known.partitions {
				p := kmsg.NewMetadataResponseTopicPartition()
				p.Partition, p.LeaderEpoch, p.Replicas, p.ISR = int32(i), b.epoch, []int32{0}, []int32{0}
				t.Partitions = append(t.Partitions, p)
			}
		}
		res.Topics = append(res.Topics, t)
	}
	return res
}

func (b *broker) createTopics(r *kmsg.CreateTopicsRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.CreateTopicsResponse)
	for _, want := range r.Topics {
		t := kmsg.NewCreateTopicsResponseTopic()
		t.Topic = want.Topic
		if b.topics[want.Topic] != nil {
			t.ErrorCode = codeTopicExists
		} else {
			made := &topic{name: want.Topic, settings: want.Configs}
			made.id[0], made.id[15] = 1, byte(len(b.order)+1)
			for range max(want.NumPartitions, 1) {
				made.partitions = append(made.partitions, &partitionLog{grown: make(chan struct{})})
			}
			b.topics[want.Topic] = made
			b.order = append(b.order, made)
		}
		res.Topics = append(res.Topics, t)
	}
	return res
}

func (b *broker) describeConfigs(r *kmsg.DescribeConfigsRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.DescribeConfigsResponse)
	for _, want := range r.Resources {
		one := kmsg.NewDescribeConfigsResponseResource()
		one.ResourceName, one.ResourceType = want.ResourceName, want.ResourceType
		if t := b.topics[want.ResourceName]; t != nil {
			for _, s := range t.settings {
				entry := kmsg.NewDescribeConfigsResponseResourceConfig()
				entry.Name, entry.Value = s.Name, s.Value
				one.Configs = append(one.Configs, entry)
			}
		}
		res.Resources = append(res.Resources, one)
	}
	return res
}

func (b *broker) partition(name string, number int32) *partitionLog {
	t := b.topics[name]
	if t == nil || int(number) >= len(t.partitions) {
		return nil
	}
	return t.partitions[number]
}

func (b *broker) listOffsets(r *kmsg.ListOffsetsRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.ListOffsetsResponse)
	res.Topics = eachPartition(r.Topics,
		func(t kmsg.ListOffsetsRequestTopic) (string, []kmsg.ListOffsetsRequestTopicPartition) {
			return t.Topic, t.Partitions
		},
		func(topic string, one kmsg.ListOffsetsRequestTopicPartition) kmsg.ListOffsetsResponseTopicPartition {
			p := kmsg.NewListOffsetsResponseTopicPartition()
			p.Partition, p.Timestamp = one.Partition, -1
			if l := b.partition(topic, one.Partition); l == nil {
				p.ErrorCode = codeUnknownTopic
			} else if p.Offset = 0; one.Timestamp == -1 {
				p.Offset = l.next
			}
			return p
		},
		func(topic string, all []kmsg.ListOffsetsResponseTopicPartition) kmsg.ListOffsetsResponseTopic {
			return kmsg.ListOffsetsResponseTopic{Topic: topic, Partitions: all}
		})
	return res
}

func (b *broker) offsetFetch(r *kmsg.OffsetFetchRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.OffsetFetchResponse)
	res.Topics = eachPartition(r.Topics,
		func(t kmsg.OffsetFetchRequestTopic) (string, []int32) { return t.Topic, t.Partitions },
		func(topic string, number int32) kmsg.OffsetFetchResponseTopicPartition {
			p := kmsg.NewOffsetFetchResponseTopicPartition()
			p.Partition, p.Offset = number, -1
			if at, ok := b.groups[groupPartition{r.Group, topic, number}]; ok {
				p.Offset, p.Metadata = at.offset, &at.metadata
			}
			return p
		},
		func(topic string, all []kmsg.OffsetFetchResponseTopicPartition) kmsg.OffsetFetchResponseTopic {
			return kmsg.OffsetFetchResponseTopic{Topic: topic, Partitions: all}
		})
	return res
}

func (b *broker) offsetCommit(r *kmsg.OffsetCommitRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.OffsetCommitResponse)
	res.Topics = eachPartition(r.Topics,
		func(t kmsg.OffsetCommitRequestTopic) (string, []kmsg.OffsetCommitRequestTopicPartition) {
			return t.Topic, t.Partitions
		},
		func(topic string, one kmsg.OffsetCommitRequestTopicPartition) kmsg.OffsetCommitResponseTopicPartition {
			at := committed{offset: one.Offset}
			if one.Metadata != nil {
				at.metadata = *one.Metadata
			}
			b.groups[groupPartition{r.Group, topic, one.Partition}] = at
			b.w.event("position %s %s/%d@%d", r.Group, topic, one.Partition, one.Offset)
			p := kmsg.NewOffsetCommitResponseTopicPartition()
			p.Partition = one.Partition
			return p
		},
		func(topic string, all []kmsg.OffsetCommitResponseTopicPartition) kmsg.OffsetCommitResponseTopic {
			return kmsg.OffsetCommitResponseTopic{Topic: topic, Partitions: all}
		})
	return res
}
