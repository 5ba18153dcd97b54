package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// ports hands out free addresses, each once. They are of a loopback host of its own, so
// that no other program listens there while a server is down, and below the ephemeral
// range, so that no outgoing connection does.
type ports struct {
	host  string
	taken map[int]bool
}

// newPorts chooses a host of 127.0.0.0/8 at random.
func newPorts() *ports {
	return &ports{
		host:  fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254)),
		taken: map[int]bool{},
	}
}

const firstPort, lastPort = 5200, 9900

func (p *ports) take() (string, error) {
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if p.taken[port] {
			continue
		}
		address := fmt.Sprintf("%s:%d", p.host, port)
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		p.taken[port] = true
		return address, l.Close()
	}
	return "", errors.New("no free port was found")
}
