package reactor

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/IBM/sarama"

	"netsim/internal/testworld"
)

// A publisher that gets no producer's id leaves no connection behind. A simulation found
// that it did: seed 1047 of sparse hours.
func TestARefusedPublisherLeavesNoConnection(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var counted counting
	counted.Listener = l
	broker := sarama.NewMockBrokerListener(t, 1, &counted)
	defer broker.Close()
	refused := sarama.NewMockInitProducerIDResponse(t).SetError(sarama.ErrClusterAuthorizationFailed)
	broker.SetHandlerByMap(map[string]sarama.MockResponse{
		"MetadataRequest":       sarama.NewMockMetadataResponse(t).SetBroker(broker.Addr(), broker.BrokerID()).SetController(broker.BrokerID()),
		"InitProducerIDRequest": refused,
	})
	config := (&Reactor{}).sarama()
	config.Producer.Retry.Max, config.Metadata.Retry.Max = 1, 0
	config.ApiVersionsRequest = false
	if _, err = openPublisher([]string{broker.Addr()}, config); err == nil {
		t.Fatal("the publisher was opened")
	}
	if counted.accepted.Load() == 0 {
		t.Fatalf("the broker has seen no connection: %v", err)
	}
	testworld.Await(t, func() bool { return counted.closed.Load() == counted.accepted.Load() })
}

// counting counts connections, and those that the broker has closed, which it does when
// the client has.
type counting struct {
	net.Listener
	accepted, closed atomic.Int64
}

func (l *counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.accepted.Add(1)
	return &countedConn{Conn: c, closed: &l.closed}, nil
}

type countedConn struct {
	net.Conn
	closed *atomic.Int64
	once   sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.closed.Add(1) })
	return c.Conn.Close()
}
