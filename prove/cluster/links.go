package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Link is the connection from one part of the cluster to another, through Toxiproxy.
// From and To are names of parts, such as "netsim-1" and "kafka-2"; From is "peers"
// for the connections of all other brokers to a broker.
type Link struct {
	From, To string

	proxy  *toxiproxy.Proxy
	server *toxiproxy.ApiServer
}

// Trouble is what a link does to its connections.
type Trouble string

// The troubles of a link.
const (
	Cut     Trouble = "cut"     // connections are closed, and new ones are refused
	Silent  Trouble = "silent"  // connections are accepted, and no byte passes
	Slow    Trouble = "slow"    // every byte is late by 300 ± 200 ms
	Narrow  Trouble = "narrow"  // 32 KiB a second pass
	Breaks  Trouble = "breaks"  // each connection is reset after 64 KiB
	Halfway Trouble = "halfway" // requests pass, and no byte of a reply
)

// Troubles lists all troubles.
func Troubles() []Trouble { return []Trouble{Cut, Silent, Slow, Narrow, Breaks, Halfway} }

// toxic is a toxic of Toxiproxy. A name of a stream is Toxiproxy's: upstream is from
// the client to the server.
type toxic struct {
	Type       string         `json:"type"`
	Stream     string         `json:"stream"`
	Attributes map[string]int `json:"attributes"`
}

func toxics(t Trouble) []toxic {
	both := func(kind string, attributes map[string]int) []toxic {
		return []toxic{{kind, "upstream", attributes}, {kind, "downstream", attributes}}
	}
	switch t {
	case Silent:
		return both("timeout", map[string]int{"timeout": 0})
	case Slow:
		return both("latency", map[string]int{"latency": 300, "jitter": 200})
	case Narrow:
		return both("bandwidth", map[string]int{"rate": 32})
	case Breaks:
		return []toxic{{"limit_data", "downstream", map[string]int{"bytes": 64 << 10}}}
	case Halfway:
		return []toxic{{"timeout", "downstream", map[string]int{"timeout": 0}}}
	}
	return nil
}

// links are all connections of the cluster.
type links struct {
	server *toxiproxy.ApiServer // its HTTP interface is not served
	all    []*Link
}

func newLinks() *links {
	zerolog.SetGlobalLevel(zerolog.Disabled) // toxics have loggers of their own
	return &links{server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())}
}

// open makes a link that listens on an address and connects to the target.
func (l *links) open(from, to, listen, target string) error {
	link := &Link{From: from, To: to, server: l.server, proxy: toxiproxy.NewProxy(l.server, from+" to "+to, listen, target)}
	l.all = append(l.all, link)
	if err := link.proxy.Start(); err != nil {
		return fmt.Errorf("open the link from %s to %s: %w", from, to, err)
	}
	return nil
}

// ErrNotDisturbed says that Toxiproxy has not made a trouble in time.
var ErrNotDisturbed = errors.New("the trouble was not made in time")

// Disturb gives the link a trouble. Heal ends it, also after ErrNotDisturbed.
func (l *Link) Disturb(t Trouble) error {
	proxy, failed := l.proxy, make(chan error, 1)
	made := bounded(func() {
		if t == Cut {
			proxy.Stop()
			return
		}
		for _, each := range toxics(t) {
			text, err := json.Marshal(each)
			if err == nil {
				_, err = proxy.Toxics.AddToxicJson(strings.NewReader(string(text)))
			}
			if err != nil {
				failed <- err
				return
			}
		}
	})
	var err error
	select {
	case err = <-failed:
	default:
		if !made {
			err = ErrNotDisturbed
		}
	}
	if err != nil {
		return fmt.Errorf("disturb the link from %s to %s: %w", l.From, l.To, err)
	}
	return nil
}

// Heal ends all troubles of the link. Its connections are closed, because Toxiproxy
// leaves those that were silent without the bytes that they missed.
func (l *Link) Heal() error {
	if err := l.renew(l.proxy.Upstream); err != nil {
		return fmt.Errorf("heal the link from %s to %s: %w", l.From, l.To, err)
	}
	return nil
}

// redirect connects the link to another target, and closes its connections.
func (l *Link) redirect(target string) error { return l.renew(target) }

// renew replaces the link's proxy. To remove a toxic from a proxy can take for ever: it
// waits for each connection's toxic to end, which one whose connection broke never does.
func (l *Link) renew(target string) error {
	old := l.proxy
	bounded(old.Stop)
	l.proxy = toxiproxy.NewProxy(l.server, old.Name, old.Listen, target)
	return l.proxy.Start()
}

// linkTimeout bounds how long Toxiproxy may take to change a link.
const linkTimeout = 20 * time.Second

// bounded calls change, and reports whether it ended within linkTimeout. It does not wait
// for longer.
func bounded(change func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		change()
	}()
	select {
	case <-done:
		return true
	case <-time.After(linkTimeout):
		return false
	}
}

// to returns the links to a part.
func (l *links) to(name string) []*Link {
	return slices.DeleteFunc(slices.Clone(l.all), func(k *Link) bool { return k.To != name })
}
