// Package infragraph converts fabrics between the documents of configurations and InfraGraph
// 2.x, a description of infrastructure as a graph (github.com/Keysight/infragraph).
//
//	netsim                                InfraGraph
//	switch, server                        an instance of a device of the same name
//	running number of a switch or server  index of the instance
//	port of a switch                      a component port of the device
//	NIC                                   a component of the server's device, of the choice nic
//	GPU                                   a component of the choice xpu, which Read notes and leaves out
//	link                                  an edge between a NIC and a port, or two ports
//	rate and delay of a link              bandwidth and latency of the edge's link
//
// InfraGraph has no racks, pods and tiers. Read finds them from the edges:
//
//   - A device with an xpu or a nic, also inside a device that it holds, is a server. Any
//     other device is a switch.
//   - The tier of a switch is the least number of links to a server. All switches of an
//     instance are of one tier if the edges allow that, so a rack may have no server.
//   - Switches that share a server are in one rack, and racks that share a switch of the
//     second tier are in one pod. The switches of the third tier are the spine.
//
// Then it wires the fabric by the rules of netsim, and refuses a document with other links,
// such as a dragonfly, a ring or servers with a switch for each NIC.
//
// Nothing is dropped silently: both directions return a note for each thing that the other
// form does not have. Rates are rounded to 1 bit/s, delays to 1 ps.
//
// It is pure. Sources: schema of InfraGraph 2.4.0, and what its reference implementation
// (version 2.5.0) makes of slices, schemes and composed devices; completions.md 3.2 (wiring).
package infragraph

// Bounds of a document. They keep Read cheap for any bytes.
const (
	MaxJSON = 64 << 20 // bytes
	MaxYAML = 4 << 20  // bytes; a parsed YAML text takes up to two hundred times as much memory

	maxDepth     = 32      // of lists and objects
	maxNodes     = 2 << 20 // values
	maxInstances = 256 << 10
	maxLinks     = 1 << 20
	maxCount     = 1 << 20 // of a component in a device
	maxPath      = 8       // components of an endpoint
	maxNotes     = 100
)
