package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// ports hands out free loopback addresses, each once. They are below the ephemeral
// range, so that no outgoing connection takes one while its server is down.
type ports map[int]bool

const firstPort, lastPort = 5200, 9900

func (p ports) take() (string, error) {
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if p[port] {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		p[port] = true
		return address, l.Close()
	}
	return "", errors.New("no free port was found")
}
