package engine

import (
	"fmt"
	"slices"
)

// Packet is the sizes of packets, in bytes.
type Packet struct {
	MSS    int64 // payload of a full packet
	Header int64
	// Ack is the size of an acknowledgement. Acknowledgements share links with the
	// other direction's data, so each data packet is charged one.
	Ack int64
}

// DefaultPacket returns the sizes of the catalogue's NIC (completions.md 2.4).
func DefaultPacket() Packet { return Packet{MSS: 4096, Header: 58, Ack: 64} }

// NIC is the packet sizes of a component's NICs, or without a component, of all other
// NICs.
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

// wire returns what a payload occupies on the wire.
func (p *Packet) wire(bytes int64) load {
	packets := packetsOf(bytes, p.MSS)
	return load{8 * (bytes + packets*(p.Header+p.Ack)), packets}
}

func packetsOf(bytes, mss int64) int64 { return max(1, (bytes+mss-1)/mss) }

// form returns the index in Options.NICs that applies to a node. The last entry
// applies to every node.
func (e *engine) form(nic int32) int32 {
	component := e.fabric.Nodes[nic].Component
	return int32(slices.IndexFunc(e.options.NICs, func(n NIC) bool { return n.Component == component || n.Component == "" }))
}
