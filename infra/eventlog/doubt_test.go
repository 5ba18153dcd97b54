package eventlog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/segmentio/kafka-go/protocol"

	"netsim/events"
	"netsim/internal/testwait"
)

// loss is what happens to one produce request.
type loss int

const (
	none        loss = iota
	answerLost       // the broker answers, and the client does not receive the answer
	requestLost      // the broker does not receive the request
)

// lossy is a network that loses produce requests or their answers.
type lossy struct {
	mu   sync.Mutex
	next func() loss // called for each produce request
}

func (l *lossy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	return &lossyConn{Conn: conn, network: l}, err
}

func (l *lossy) nextLoss() loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next()
}

type lossyConn struct {
	net.Conn
	network *lossy
}

// Write sends or loses a request, which is small enough for one call of Write.
func (c *lossyConn) Write(b []byte) (int, error) {
	if len(b) < 6 || binary.BigEndian.Uint16(b[4:]) != uint16(protocol.Produce) {
		return c.Conn.Write(b)
	}
	loss := c.network.nextLoss()
	if loss == requestLost {
		c.Conn.Close()
		return len(b), nil
	}
	n, err := c.Conn.Write(b)
	if err == nil && loss == answerLost {
		// When the answer arrives, the batch is in the log.
		var head [4]byte
		if _, err := io.ReadFull(c.Conn, head[:]); err != nil {
			return n, err
		}
		c.Conn.Close()
	}
	return n, err
}

// openLossy returns an event log that loses produce requests as next says, and
// another one on the same topics that loses nothing.
func openLossy(t *testing.T, c Config, next func() loss) (k, other *Kafka) {
	t.Helper()
	c.Prefix = freshPrefix()
	other = open(t, c)
	c.dial = (&lossy{next: next}).dial
	return open(t, c), other
}

func lostAnswer(t *testing.T, c Config) {
	var other *Kafka
	var topic string
	tries := 0
	k, other := openLossy(t, c, func() loss {
		tries++
		if tries > 2 {
			return none
		}
		// Before each copy, another writer appends a record with the same event
		// id and another content.
		foreign := message("a")
		foreign.Value = fmt.Append(nil, "foreign-", tries)
		if _, err := other.Append(topic, 0, foreign).Wait(context.Background()); err != nil {
			t.Error(err)
		}
		return answerLost
	})
	topic = k.Topic(events.Simulations)
	if offset := await(t, k.Append(topic, 0, message("a"))); offset != 1 {
		t.Errorf("the append is at %d, want its first copy's offset 1", offset)
	}
	if offset := await(t, k.Append(topic, 0, message("b"))); offset != 5 {
		t.Errorf("the next append is at %d, want 5", offset)
	}
	if got, want := namesOf(readAll(t, k, topic, 0, 6)), "foreign-1 a foreign-2 a a b"; got != want {
		t.Errorf("the log holds %s, want %s", got, want)
	}
}

func lostRequest(t *testing.T, c Config) {
	var other *Kafka
	var topic string
	lost := false
	k, other := openLossy(t, c, func() loss {
		if lost {
			return none
		}
		lost = true
		if _, err := other.Append(topic, 0, message("foreign")).Wait(context.Background()); err != nil {
			t.Error(err)
		}
		return requestLost
	})
	topic = k.Topic(events.Simulations)
	if offset := await(t, k.Append(topic, 0, message("a"))); offset != 1 {
		t.Errorf("the append is at %d, want 1", offset)
	}
	if got, want := namesOf(readAll(t, k, topic, 0, 2)), "foreign a"; got != want {
		t.Errorf("the log holds %s, want %s", got, want)
	}
}

func noAnswerEver(t *testing.T, c Config) {
	lost := make(chan struct{})
	var once sync.Once
	k, _ := openLossy(t, c, func() loss {
		once.Do(func() { close(lost) })
		return answerLost
	})
	p := k.Append(k.Topic(events.Simulations), 0, message("a"))
	testwait.Receive(t, lost, "the lost answer")
	k.Close()
	if _, err := p.Wait(t.Context()); !errors.Is(err, ErrUnknown) || errors.Is(err, ErrNotWritten) {
		t.Errorf("append without an answer: %v, want ErrUnknown", err)
	}
}

// randomLosses appends through a network that loses a third of the requests or
// their answers, and compares the returned offsets with the log.
func randomLosses(t *testing.T, c Config) {
	const appends = 300
	random := rand.New(rand.NewPCG(1, 2))
	k, other := openLossy(t, c, func() loss {
		return []loss{none, none, none, none, answerLost, requestLost}[random.IntN(6)]
	})
	topic := k.Topic(events.Simulations)
	var group sync.WaitGroup
	offsets := make([]int64, appends)
	for w := range 4 {
		group.Go(func() {
			for i := w; i < appends; i += 4 {
				offset, err := k.Append(topic, 0, message(fmt.Sprint(i))).Wait(t.Context())
				if err != nil {
					t.Error(err)
				}
				offsets[i] = offset
				if i%7 == 0 { // another writer appends too
					if _, err := other.Append(topic, 0, message("foreign")).Wait(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	testwait.Group(t, &group, "the writers")
	first := firstCopies(readAll(t, k, topic, 0, appends))
	for i, offset := range offsets {
		if want, ok := first[fmt.Sprint(i)]; !ok || offset != want {
			t.Errorf("append %d returned offset %d; its first copy is at %d (found: %t)", i, offset, want, ok)
		}
	}
}

// firstCopies returns the offset of the first record with each name.
func firstCopies(records []events.Record) map[string]int64 {
	first := map[string]int64{}
	for i := range records {
		if _, seen := first[nameOf(&records[i])]; !seen {
			first[nameOf(&records[i])] = records[i].Offset
		}
	}
	return first
}
