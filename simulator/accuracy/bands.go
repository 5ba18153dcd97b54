package accuracy

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// The kinds of networks of which cases were compared.
const (
	OneSwitch = "one switch"
	Sprayed   = "leaf-spine, trimming, sprayed"         // every switch with a choice sprays packets
	Hashed    = "leaf-spine, trimming, one path a flow" // none sprays
	Lossless  = "leaf-spine, lossless, one path a flow"
)

// Table is the content of bands.json, which go generate -C prove ./bench/accuracy writes.
type Table struct {
	Engine string `json:"engine"` // version of the engine that ran the cases
	Bands  []Band `json:"bands"`
}

// Band is what the compared cases of one algorithm in one kind of network have in common.
type Band struct {
	Network    string   `json:"network"`
	Operation  string   `json:"operation,omitempty"` // "" for messages that are not of a collective
	Algorithm  string   `json:"algorithm,omitempty"`
	References []string `json:"references"`
	Rows       int      `json:"rows"`
	Lowest     float64  `json:"lowest"`  // percent by which the simulated time was longer, at least
	Highest    float64  `json:"highest"` // and at most
	Ranges
}

// Ranges are the least and greatest values of cases, or of a run.
type Ranges struct {
	Ranks  Range `json:"ranks"`            // of a collective
	Bytes  Range `json:"bytes"`            // its data size, or the size of a message
	Hosts  Range `json:"hostsPerLeaf"`     // 0 on one switch
	Over   Range `json:"oversubscription"` // of a leaf, in percent; 0 on one switch
	Rate   Range `json:"rate"`             // of a link, in bit/s
	Delay  Range `json:"delay"`            // of a link, in ps
	MSS    Range `json:"mss"`              // bytes
	Header Range `json:"header"`           // bytes
}

// Range is the values from Least to Most.
type Range struct {
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
}

// At returns the range that has one value.
func At(value int64) Range { return Range{value, value} }

// Join returns the range that holds both ranges.
func (r Range) Join(other Range) Range {
	return Range{min(r.Least, other.Least), max(r.Most, other.Most)}
}

// within reports whether the other range holds this one.
func (r Range) within(other Range) bool { return r.Least >= other.Least && r.Most <= other.Most }

// Join returns the ranges that hold both.
func (r Ranges) Join(other *Ranges) Ranges {
	return Ranges{
		r.Ranks.Join(other.Ranks), r.Bytes.Join(other.Bytes), r.Hosts.Join(other.Hosts), r.Over.Join(other.Over),
		r.Rate.Join(other.Rate), r.Delay.Join(other.Delay), r.MSS.Join(other.MSS), r.Header.Join(other.Header),
	}
}

// outside describes the values of a run that are beyond those of the compared cases.
func (r *Ranges) outside(run *Ranges) (list []string) {
	for _, x := range []struct {
		what       string
		scale      float64
		unit       string
		ours, have Range
	}{
		{"ranks of a collective", 1, "", run.Ranks, r.Ranks},
		{"data size", 1, " B", run.Bytes, r.Bytes},
		{"hosts at a leaf switch", 1, "", run.Hosts, r.Hosts},
		{"oversubscription", 100, ":1", run.Over, r.Over},
		{"rate of a link", 1e9, " Gb/s", run.Rate, r.Rate},
		{"delay of a link", 1e3, " ns", run.Delay, r.Delay},
		{"payload of a packet", 1, " B", run.MSS, r.MSS},
		{"header of a packet", 1, " B", run.Header, r.Header},
	} {
		if !x.ours.within(x.have) {
			list = append(list, fmt.Sprintf("%s: %s, compared %s", x.what, x.ours.text(x.scale, x.unit), x.have.text(x.scale, x.unit)))
		}
	}
	// The links of a compared case are all alike.
	if r := run.Rate; r.Least != r.Most {
		list = append(list, "links of several rates: "+r.text(1e9, " Gb/s"))
	}
	if r := run.Delay; r.Least != r.Most {
		list = append(list, "links of several delays: "+r.text(1e3, " ns"))
	}
	return list
}

func (r Range) text(scale float64, unit string) string {
	if r.Least == r.Most {
		return fmt.Sprintf("%.10g%s", float64(r.Least)/scale, unit)
	}
	return fmt.Sprintf("%.10g to %.10g%s", float64(r.Least)/scale, float64(r.Most)/scale, unit)
}

//go:embed bands.json
var generated []byte

// Generated returns the table of bands.json. It fails only if that file is damaged.
func Generated() (*Table, error) {
	var t Table
	if err := json.Unmarshal(generated, &t); err != nil {
		return nil, fmt.Errorf("read bands.json: %w", err)
	}
	return &t, nil
}

// find returns the band of an algorithm in a kind of network, nil without one.
func (t *Table) find(network, operation, algorithm string) *Band {
	for i := range t.Bands {
		if b := &t.Bands[i]; b.Network == network && b.Operation == operation && b.Algorithm == algorithm {
			return b
		}
	}
	return nil
}
