package document

import (
	"fmt"

	"netsim/simulator/engine"
)

// transports lists the models of NICs. A model declares what its packets meet at a link at
// which more of them arrive than it can send.
var transports = map[string]engine.Transport{
	"roce-nic-v1":     engine.Lossless,
	"trimming-nic-v1": engine.Trimming,
	"ideal-nic-v1":    engine.Ideal,
}

// TransportOf returns the transport of a model of NICs, and false for other models.
func TransportOf(model string) (engine.Transport, bool) {
	t, known := transports[model]
	return t, known
}

// Transport returns the transport of the NICs that servers have. NICs of different
// transports would share queues, which is not modelled: the error names two of them.
func (d *Document) Transport() (engine.Transport, error) {
	used := map[string]bool{}
	for i := range d.Components {
		if d.Components[i].Type != TypeServer {
			continue
		}
		for _, r := range d.Components[i].Components {
			used[r.Name] = used[r.Name] || r.Type == TypeNIC
		}
	}
	var first *Component
	found := engine.Lossless
	for i := range d.Components {
		c := &d.Components[i]
		t, known := TransportOf(c.Model)
		switch {
		case c.Type != TypeNIC || !used[c.Name] || !known:
		case first == nil:
			first, found = c, t
		case t != found:
			return found, fmt.Errorf("the NICs %s (%s, %s) and %s (%s, %s) have different transports, which cannot share a network; use models of one",
				first.Name, first.Model, found, c.Name, c.Model, t)
		}
	}
	return found, nil
}
