package results

import "netsim/simulator/engine"

const scaleUpHeader = "rank,scale_up_group,scale_up_subgroup,bandwidth_Gbps,transfers_tx,transfers_rx,payload_bytes_tx,payload_bytes_rx"

// port counts the transfers and the bytes of a rank's scale-up port.
type port struct{ sends, receives, out, in int64 }

// countPorts counts a transfer if it is inside a scale-up group.
func (r *Recorder) countPorts(t *engine.Transfer) {
	s := r.config.ScaleUp
	if s == nil || s.Seats[t.From].Domain < 0 || s.Seats[t.From].Domain != s.Seats[t.To].Domain {
		return
	}
	if r.ports == nil {
		r.ports = make([]port, len(s.Seats))
	}
	from, to := &r.ports[t.From], &r.ports[t.To]
	from.sends++
	from.out += t.Bytes
	to.receives++
	to.in += t.Bytes
}

// writePorts writes a row for each rank in a scale-up group, if Config.ScaleUp is set. The
// record is not one of completions.md 5.6.
func (r *Recorder) writePorts() error {
	s := r.config.ScaleUp
	if s == nil {
		return nil
	}
	t := r.table("scale-up-stats")
	for rank, seat := range s.Seats {
		if seat.Domain < 0 {
			continue
		}
		var p port
		if r.ports != nil {
			p = r.ports[rank]
		}
		d := &s.Domains[seat.Domain]
		err := t.int(int64(rank)).int(int64(d.ID)).int(int64(seat.Subgroup)).fixed(d.Rate, 9).
			int(p.sends).int(p.receives).int(p.out).int(p.in).end()
		if err != nil {
			return err
		}
	}
	return t.close()
}
