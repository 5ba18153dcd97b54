package results

import "netsim/simulator/engine"

const (
	placementHeader = "ChakraId,Hostname,NicNodeID,ServerNodeID,ServerID,Core,IPAddress"
	scaleUpColumns  = ",ScaleUpGroupId,ScaleUpSubgroupId"
)

// writePlacement writes one row per rank with the server on which it runs. A server
// has one core, 0, and the row names its first NIC. The column of the IP address is
// empty, since the model has no addresses. The last two columns exist only with scale-up
// groups, and are empty for ranks outside them.
func (r *Recorder) writePlacement() error {
	if r.config.Hosts == nil {
		return nil
	}
	t := r.table("chakra-mapping")
	var seats []engine.Seat
	if up := r.config.Seats; up != nil {
		t.header += scaleUpColumns
		seats = up.Seats
	}
	f := r.config.Fabric
	for rank, id := range r.config.Hosts {
		h := &f.Hosts[id]
		t.int(int64(rank)).text(f.Nodes[h.Server].Name()).int(int64(h.NICs[0])).int(int64(h.Server)).int(int64(id)).int(0).text("")
		switch {
		case seats == nil:
		case seats[rank].Domain < 0:
			t.text("").text("")
		default:
			t.int(int64(r.config.Seats.Domains[seats[rank].Domain].ID)).int(int64(seats[rank].Subgroup))
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	return t.close()
}
