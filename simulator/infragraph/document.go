package infragraph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// infrastructure is an InfraGraph document, with the members that Read and Write use.
type infrastructure struct {
	Name        string     `json:"name,omitempty"`
	Description string     `json:"description,omitempty"`
	Devices     []device   `json:"devices"`
	Links       []link     `json:"links"`
	Instances   []instance `json:"instances"`
	Edges       []edge     `json:"edges"`
}

type device struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Components  []component `json:"components"`
	Links       []link      `json:"links"`
	Edges       []inner     `json:"edges"`
}

// The choices of components that have a meaning here.
const (
	choiceCustom = "custom"
	choiceDevice = "device"
	choiceXPU    = "xpu"
	choiceNIC    = "nic"
	choicePort   = "port"
	choiceSwitch = "switch"
)

type component struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Count       int     `json:"count"`
	Choice      string  `json:"choice"`
	Custom      *custom `json:"custom,omitempty"`
}

type custom struct {
	Type string `json:"type"`
}

type link struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Physical    *physical `json:"physical,omitempty"`
}

type physical struct {
	Bandwidth quantity `json:"bandwidth"`
	Latency   quantity `json:"latency"`
}

// quantity is a number in the unit that choice names. Without a choice it is absent.
type quantity struct {
	choice string
	number float64
}

// MarshalJSON implements json.Marshaler.
func (q quantity) MarshalJSON() ([]byte, error) {
	number := strconv.FormatFloat(q.number, 'f', -1, 64)
	return fmt.Appendf(nil, `{"choice":%q,%q:%s}`, q.choice, q.choice, number), nil
}

type instance struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Device      string `json:"device"`
	Count       int    `json:"count"`
}

// The schemes of edges.
const (
	oneToOne   = "one2one"
	manyToMany = "many2many"
)

// inner is an edge inside a device.
type inner struct {
	Ep1    innerEnd `json:"ep1"`
	Ep2    innerEnd `json:"ep2"`
	Scheme string   `json:"scheme"`
	Link   string   `json:"link"`
}

type innerEnd struct {
	Component string `json:"component"`
}

// edge is an edge between instances.
type edge struct {
	Ep1    endpoint `json:"ep1"`
	Ep2    endpoint `json:"ep2"`
	Scheme string   `json:"scheme"`
	Link   string   `json:"link"`
}

type endpoint struct {
	Instance  string `json:"instance"`
	Component string `json:"component"`
}

// decoder makes a document of a value. It keeps the first error, and notes the members that
// it does not know.
type decoder struct {
	notes notes
	err   error
	texts int // descriptions
}

func (d *decoder) fail(path, format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...))
	}
}

// members returns the named members of an object; a missing one is null. It notes others.
func (d *decoder) members(path string, v value, names ...string) []value {
	found := make([]value, len(names))
	if v.kind != object {
		d.fail(path, "is %s, not an object", v.kind)
		return found
	}
	for i, name := range v.names {
		switch at := slices.Index(names, name); {
		case at >= 0:
			found[at] = v.items[i]
		case name == "connections":
			d.fail(path+".connections", "belongs to InfraGraph before 2.0; version 2.x has edges instead")
		case name == "description" && (v.items[i].kind == text || v.items[i].kind == null):
			if v.items[i].text != "" {
				d.texts++
			}
		default:
			d.notes.add("%s.%.64s is not read", path, name)
		}
	}
	return found
}

func (d *decoder) string(path string, v value, needed bool) string {
	if v.kind == text || v.kind == null && !needed {
		return v.text
	}
	if v.kind == null {
		d.fail(path, "is missing")
	} else {
		d.fail(path, "is %s, not a string", v.kind)
	}
	return ""
}

// name returns a name that an endpoint can hold.
func (d *decoder) name(path string, v value) string {
	name := d.string(path, v, true)
	if d.err == nil && (name == "" || len(name) > 128 || strings.ContainsAny(name, ".[]:")) {
		d.fail(path, "'%.64s' must have 1 to 128 characters, none of them '.', '[', ']' or ':'", name)
	}
	return name
}

func (d *decoder) count(path string, v value, most int) int {
	n, err := strconv.Atoi(v.text)
	switch {
	case v.kind == null:
		d.fail(path, "is missing")
	case v.kind != number || err != nil || n < 0 || n > most:
		d.fail(path, "must be an integer from 0 to %d", most)
	}
	return n
}

// each calls read with every item of a list and its path; null is an empty list.
func (d *decoder) each(path string, v value, read func(path string, v value)) {
	if v.kind != list && v.kind != null {
		d.fail(path, "is %s, not a list", v.kind)
		return
	}
	for i := range v.items {
		if d.err != nil {
			return
		}
		read(fmt.Sprintf("%s[%d]", path, i), v.items[i])
	}
}

func (d *decoder) infrastructure(v value) (doc infrastructure) {
	root := "$"
	if v.kind == object && slices.Contains(v.names, "infrastructure") { // an answer of the API's get_graph
		v, root = d.members("$", v, "infrastructure")[0], "$.infrastructure"
	}
	m := d.members(root, v, "name", "devices", "links", "instances", "edges")
	doc.Name = d.string(root+".name", m[0], false)
	d.each(root+".devices", m[1], func(path string, v value) {
		doc.Devices = append(doc.Devices, d.device(path, v))
	})
	d.each(root+".links", m[2], func(path string, v value) {
		doc.Links = append(doc.Links, d.link(path, v))
	})
	d.each(root+".instances", m[3], func(path string, v value) {
		m := d.members(path, v, "name", "device", "count")
		doc.Instances = append(doc.Instances, instance{
			Name: d.name(path+".name", m[0]), Device: d.string(path+".device", m[1], true), Count: d.count(path+".count", m[2], maxInstances),
		})
	})
	d.each(root+".edges", m[4], func(path string, v value) {
		m := d.members(path, v, "ep1", "ep2", "scheme", "link")
		doc.Edges = append(doc.Edges, edge{
			d.endpoint(path+".ep1", m[0]), d.endpoint(path+".ep2", m[1]),
			d.string(path+".scheme", m[2], true), d.string(path+".link", m[3], true),
		})
	})
	return doc
}

func (d *decoder) endpoint(path string, v value) endpoint {
	m := d.members(path, v, "instance", "component")
	return endpoint{d.string(path+".instance", m[0], true), d.string(path+".component", m[1], true)}
}

func (d *decoder) device(path string, v value) (read device) {
	m := d.members(path, v, "name", "components", "links", "edges")
	read.Name = d.name(path+".name", m[0])
	d.each(path+".components", m[1], func(path string, v value) {
		choices := []string{"cpu", choiceXPU, choiceNIC, "memory", choicePort, choiceSwitch, choiceDevice}
		m := d.members(path, v, append([]string{"name", "count", "choice", choiceCustom}, choices...)...)
		c := component{Name: d.name(path+".name", m[0]), Count: d.count(path+".count", m[1], maxCount), Choice: d.string(path+".choice", m[2], true)}
		if d.err == nil && c.Choice != choiceCustom && !slices.Contains(choices, c.Choice) {
			d.fail(path+".choice", "'%.64s' must be %s or one of %v", c.Choice, choiceCustom, choices)
		}
		read.Components = append(read.Components, c)
	})
	d.each(path+".links", m[2], func(path string, v value) { read.Links = append(read.Links, d.link(path, v)) })
	d.each(path+".edges", m[3], func(string, value) { read.Edges = append(read.Edges, inner{}) })
	return read
}

func (d *decoder) link(path string, v value) link {
	m := d.members(path, v, "name", "physical")
	l := link{Name: d.string(path+".name", m[0], true)}
	if m[1].kind != null {
		path += ".physical"
		m := d.members(path, m[1], "bandwidth", "latency")
		l.Physical = &physical{
			Bandwidth: d.quantity(path+".bandwidth", m[0], "gigabits_per_second", "gigabytes_per_second", "gigatransfers_per_second"),
			Latency:   d.quantity(path+".latency", m[1], "ms", "us", "ns"),
		}
	}
	return l
}

// quantity reads the member that choice names, or the only one.
func (d *decoder) quantity(path string, v value, units ...string) (q quantity) {
	if v.kind == null {
		return q
	}
	m := d.members(path, v, append(units, "choice")...)
	q.choice = d.string(path+".choice", m[len(units)], false)
	there := 0
	for i := range units {
		if m[i].kind != null {
			there++
		}
	}
	if there > 1 {
		d.fail(path, "has %d numbers; it must have one of %v", there, units)
	}
	for i, unit := range units {
		switch {
		case m[i].kind == null || q.choice != "" && q.choice != unit:
			continue
		case m[i].kind != number:
			d.fail(path+"."+unit, "is %s, not a number", m[i].kind)
		}
		n, err := strconv.ParseFloat(m[i].text, 64)
		if err != nil || !(n >= 0 && n <= 1e12) { // also for NaN
			d.fail(path+"."+unit, "'%.64s' must be a number from 0 to 1e12", m[i].text)
		}
		return quantity{unit, n}
	}
	if q.choice != "" {
		d.fail(path, "has the choice '%.64s' and no such number; it must have one of %v", q.choice, units)
	}
	return q
}
