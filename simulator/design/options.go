package design

import (
	"errors"
	"fmt"
	"math"
	"time"

	"netsim/simulator/engine"
)

// Options reads the engine's options from the document. The duration is the
// simulation's and replaces RunTime (completions.md 5.2).
//
// The engine moves flows: one packet form for all NICs, and one way of using
// parallel paths for all switches. A document that mixes them is refused.
// Flowlet switching is simulated as per-flow ECMP.
func (d *Document) Options(duration time.Duration) (engine.Options, error) {
	const section = "SimulationParameters."
	q := quantities{params: d.GlobalParameters}
	o := engine.Options{
		Seed:     uint64(q.get(section+"RandomSeed", "uint", 1)),
		Interval: q.get(section+"NDStatsReportInterval", "timeval", 1e9),
		Limit: duration.Nanoseconds()*1000 + q.get(section+"StartTime", "timeval", 0) +
			q.get(section+"WarmUp", "timeval", 0) + q.get(section+"CoolDown", "timeval", 0),
	}
	if q.err != nil {
		return o, q.err
	}
	var err error
	if o.Beacon, err = d.beacon(); err != nil {
		return o, err
	}
	if o.Packet, err = d.packet(); err != nil {
		return o, err
	}
	o.Routing, err = d.routing()
	return o, err
}

// beacon is the interval of progress reports, given in seconds.
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

func (d *Document) packet() (engine.Packet, error) {
	packet := engine.DefaultPacket()
	first := true
	for _, c := range d.Components {
		if c.Type != TypeNIC {
			continue
		}
		q := quantities{params: c.TypedParameters}
		own := engine.DefaultPacket()
		own.MSS = q.get(pathMSS, "bytes", own.MSS)
		own.Header = q.get(pathHeader, "bytes", own.Header)
		switch {
		case q.err != nil:
			return packet, fmt.Errorf("component %s: %w", c.Name, q.err)
		case !first && own != packet:
			return packet, errors.New("the NICs' packets differ; the built-in engine needs one form")
		}
		packet, first = own, false
	}
	return packet, nil
}

func (d *Document) routing() (engine.Routing, error) {
	spray, other := 0, 0
	for _, c := range d.Components {
		if c.Type != TypeSwitch {
			continue
		}
		if c.TypedParameters.text(pathBalancing, "none") == "spray" {
			spray++
		} else {
			other++
		}
	}
	switch {
	case spray > 0 && other > 0:
		return engine.ECMP, errors.New("some switches spray and some do not; the built-in engine needs one method")
	case spray > 0:
		return engine.Spray, nil
	}
	return engine.ECMP, nil
}

// Engine is the engine that the document asks for: builtin or remote.
func (d *Document) Engine() string {
	return d.GlobalParameters.text("EngineParameters.Engine", "builtin")
}
