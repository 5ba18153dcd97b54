package topology

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// ErrUneven is the error of Apart if the fabric exceeds its bounds.
var ErrUneven = errors.New("the racks are wired in too many different ways to compare them all")

// Apart has bounds on the words that it stores and on the steps that it takes. Racks that
// are wired alike count once, so real fabrics stay far below the bounds.
const (
	maxStored = 1 << 22
	maxSteps  = 1 << 28
)

// Apart finds two hosts without a path between them, if there are any. A path goes up and
// then down. So hosts of two racks need a switch that both racks reach upwards. Hosts of
// one rack always have a path, through any of its switches.
func (f *Fabric) Apart() (a, b int32, apart bool, err error) {
	s := survey{fabric: f, known: map[string]int{}}
	for int(s.words) < len(f.Nodes) && f.Nodes[s.words].Type == SwitchNode && f.Nodes[s.words].Tier == TierSSW {
		s.words++ // the spine has the first ids
	}
	s.words = (s.words + 63) / 64
	last := int32(none)
	for host := range f.Hosts {
		rack := f.Hosts[host].Rack
		if rack == last { // hosts are in the order of their racks
			continue
		}
		last = rack
		if other, found := s.visit(int32(host), rack); found {
			return other, int32(host), true, nil
		}
		if s.stored > maxStored || s.steps > maxSteps {
			return 0, 0, false, ErrUneven
		}
	}
	return 0, 0, false, nil
}

// survey is the state of Apart.
type survey struct {
	fabric        *Fabric
	words         int            // in a set of spine switches
	known         map[string]int // index in views, by view.key
	views         []view
	common        []uint64 // spine switches that all views reach
	stored, steps int
}

// view is the set of switches that a rack reaches upwards.
type view struct {
	host  int32 // a host of the rack
	pod   int32
	above []int32  // switches of its pod, sorted
	spine []uint64 // spine switches, as a bit set
}

// visit compares a rack with the earlier ones. If it has no path to one of them, it returns
// a host of that rack.
func (s *survey) visit(host, rack int32) (other int32, found bool) {
	f := s.fabric
	v := view{host: host, pod: f.racks[rack].pod, spine: make([]uint64, s.words)}
	for _, edge := range f.racks[rack].switches {
		for _, l := range f.up.of(edge) {
			if u := f.Links[l].Upper; f.Nodes[u].Tier == TierSSW {
				v.spine[u/64] |= 1 << (u % 64)
			} else {
				v.above = append(v.above, u)
			}
		}
	}
	slices.Sort(v.above)
	v.above = slices.Compact(v.above)
	key := v.key()
	if i, known := s.known[key]; known {
		return s.views[i].host, !s.views[i].joins(&v)
	}
	for _, u := range v.above {
		links := f.up.of(u)
		for _, l := range links {
			top := f.Links[l].Upper
			v.spine[top/64] |= 1 << (top % 64)
		}
		s.steps += len(links)
	}
	if other, found = s.compare(&v); found {
		return other, true
	}
	s.known[key] = len(s.views)
	s.views = append(s.views, v)
	s.stored += len(v.spine) + len(v.above)
	return 0, false
}

// compare looks for a view that has nothing in common with v. If all views reach a common
// spine switch, one comparison is enough.
func (s *survey) compare(v *view) (other int32, found bool) {
	if len(s.views) == 0 {
		s.common = slices.Clone(v.spine)
		return 0, false
	}
	all := intersect(s.common, v.spine)
	for i := range s.common {
		s.common[i] &= v.spine[i]
	}
	if all {
		return 0, false
	}
	for i := range s.views {
		if !s.views[i].joins(v) {
			return s.views[i].host, true
		}
		s.steps += len(v.spine) + len(v.above)
	}
	return 0, false
}

// joins reports whether two racks reach a common switch.
func (v *view) joins(o *view) bool {
	if intersect(v.spine, o.spine) {
		return true
	}
	if v.pod != o.pod {
		return false
	}
	for i, j := 0, 0; i < len(v.above) && j < len(o.above); {
		switch a, b := v.above[i], o.above[j]; {
		case a == b:
			return true
		case a < b:
			i++
		default:
			j++
		}
	}
	return false
}

// key identifies racks by the switches to which they are linked.
func (v *view) key() string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(v.pod)) //nolint:gosec // none, -1, converts to a distinct number
	for _, w := range v.spine {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	b = binary.LittleEndian.AppendUint32(b, math.MaxUint32)
	for _, u := range v.above {
		b = binary.LittleEndian.AppendUint32(b, uint32(u))
	}
	return string(b)
}

// intersect reports whether two bit sets have a common element.
func intersect(a, b []uint64) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}
