package engine

import (
	"fmt"
	"slices"
)

// Packet says what a packet costs on the wire, in bytes.
type Packet struct {
	MSS    int64 // payload of a full packet
	Header int64
	// Ack is the size of an acknowledgement. It travels on the links that the
	// other direction's data uses, so each data packet is charged one.
	Ack int64
}

// DefaultPacket is that of the catalogue's NIC (completions.md 2.4).
func DefaultPacket() Packet { return Packet{MSS: 4096, Header: 58, Ack: 64} }

// NIC is the packet form of the NICs of a component, without one that of all
// others.
type NIC struct {
	Component string
	Packet    Packet
}

func (p Packet) check() error {
	if p.MSS < 1 {
		return fmt.Errorf("MSS must be at least 1, got %d", p.MSS)
	}
	return nil
}

// wire is what a payload comes to on the wire.
func (p *Packet) wire(bytes int64) load {
	packets := packetsOf(bytes, p.MSS)
	return load{8 * (bytes + packets*(p.Header+p.Ack)), packets}
}

func packetsOf(bytes, mss int64) int64 { return max(1, (bytes+mss-1)/mss) }

// form is which of Options.NICs is that of a node. The last of them is of all
// nodes.
func (e *engine) form(nic int32) int32 {
	component := e.fabric.Nodes[nic].Component
	return int32(slices.IndexFunc(e.options.NICs, func(n NIC) bool { return n.Component == component || n.Component == "" }))
}
