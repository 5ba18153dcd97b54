package document

import (
	"fmt"
	"math"
	"time"

	"netsim/simulator/engine"
)

// Options reads the engine's options from the document. The duration of the simulation
// replaces RunTime (completions.md 5.2). Every error is a fault of the document.
func (d *Document) Options(duration time.Duration) (engine.Options, error) {
	const section = "SimulationParameters."
	q := quantities{params: d.GlobalParameters}
	o := engine.Options{
		Seed:     uint64(q.get(pathSeed, "uint", 1)),
		Interval: q.get(section+"NDStatsReportInterval", "timeval", 1e9),
		Start:    q.get(section+"StartTime", "timeval", 0),
		WarmUp:   q.get(section+"WarmUp", "timeval", 0),
		CoolDown: q.get(section+"CoolDown", "timeval", 0),
	}
	mtu := q.get(section+"Mtu", "bytes", 9216)
	o.Limit = duration.Nanoseconds()*1000 + o.Start + o.WarmUp + o.CoolDown
	if q.err != nil {
		return o, q.err
	}
	var err error
	if o.Transport, err = d.Transport(); err != nil {
		return o, err
	}
	if o.Beacon, err = d.beacon(); err != nil {
		return o, err
	}
	for i := range d.Components {
		c := &d.Components[i]
		switch c.Type {
		case TypeNIC:
			var n engine.NIC
			n, err = c.nic(mtu)
			o.NICs = append(o.NICs, n)
		case TypeSwitch:
			var s engine.Switch
			s, err = c.switching()
			o.Switches = append(o.Switches, s)
		}
		if err != nil {
			return o, fmt.Errorf("component %s: %w", c.Name, err)
		}
	}
	return o, nil
}

// beacon returns the interval of progress reports in picoseconds; the parameter is in seconds.
func (d *Document) beacon() (int64, error) {
	l := d.GlobalParameters.find("SimulationParameters.BeaconReportInterval")
	if l == nil {
		return 1e9, nil
	}
	seconds, ok := l.Value.(float64)
	if !ok || seconds < 0 || seconds > 86400 {
		return 0, fmt.Errorf("parameter BeaconReportInterval is %v, not seconds from 0 to 86400", l.Value)
	}
	return int64(math.Round(seconds * 1e12)), nil
}

// nic returns the packet sizes of the NIC, such that a packet with its header fits into the MTU.
func (c *Component) nic(mtu int64) (engine.NIC, error) {
	q := quantities{params: c.TypedParameters}
	p := engine.DefaultPacket()
	p.MSS = q.get(pathMSS, "bytes", p.MSS)
	p.Header = q.get(pathHeader, "bytes", p.Header)
	if q.err == nil && mtu <= p.Header {
		return engine.NIC{}, fmt.Errorf("a header of %d B leaves no room in an Mtu of %d B; raise SimulationParameters.Mtu", p.Header, mtu)
	}
	p.MSS = min(p.MSS, mtu-p.Header)
	return engine.NIC{Component: c.Name, Packet: p}, q.err
}

func (c *Component) switching() (engine.Switch, error) {
	q := quantities{params: c.TypedParameters}
	s := engine.Switch{
		Component: c.Name,
		Gap:       q.get(pathGap, "timeval", 100e6),
		Capacity:  q.get(pathCapacity, "datarate", 0),
	}
	switch method := c.TypedParameters.text(pathBalancing, "none"); method {
	case "none":
	case "flowlet":
		s.Routing = engine.Flowlet
	case "spray":
		s.Routing = engine.Spray
	default:
		return s, fmt.Errorf("parameter %s is '%s', which the engine does not know", pathBalancing, method)
	}
	switch method := c.TypedParameters.text(pathHash, "crc32WithSalt"); method {
	case "crc32WithSalt":
	case "crc32":
		s.Hash = engine.CRC32
	case "hashWithSalt":
		s.Hash = engine.PlainSalted
	case "hash":
		s.Hash = engine.Plain
	default:
		return s, fmt.Errorf("parameter %s is '%s', which the engine does not know", pathHash, method)
	}
	return s, q.err
}

// Engine returns the engine that the document selects: builtin or remote.
func (d *Document) Engine() string {
	return d.GlobalParameters.text("EngineParameters.Engine", "builtin")
}
