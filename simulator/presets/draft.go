// Package presets builds documents: those of simple submissions, and the curated
// templates that every account sees.
//
// A preset sets only the values in which it differs from the defaults. The rest is
// completed as in a document that a client sends, so only the catalogue has defaults.
//
// It is pure. Sources: completions.md sections 2.5 (templates), 3.2 (document),
// 4.2 and 4.3 (what a simple submission creates).
package presets

import (
	"fmt"
	"maps"
	"slices"

	"netsim/simulator/catalogue"
	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// The models that presets are made of, completions.md 2.4.
const (
	switchModel      = "clos-switch-v1"
	nicModel         = "roce-nic-v1"
	serverModel      = "gpu-server-v1"
	rackModel        = "leaf-rack-v1"
	podModel         = "pod-v1"
	applicationModel = "chakra-workload-v1"
)

// values holds parameter values by path, in the units of the defaults. Numbers
// are float64.
type values map[string]any

// draft is an unfinished document. It keeps the first error.
type draft struct {
	doc document.Document
	err error
}

// complete fills in defaults and returns the document, or the first error of the draft.
func (d *draft) complete() (*document.Document, error) {
	if d.err != nil {
		return nil, d.err
	}
	if d.doc.Links == nil {
		d.doc.Links = []document.Component{}
	}
	if err := validation.Complete(&d.doc); err != nil {
		return nil, fmt.Errorf("complete a preset: %w", err)
	}
	return &d.doc, nil
}

// ports describes the ports of a switch, which all have one rate.
type ports struct{ up, down, gbps, capacityGbps int }

// switches declares a switch component.
func (d *draft) switches(name string, p ports, more values) {
	v := values{
		"NumUpLinks":        float64(p.up),
		"NumDownLinks":      float64(p.down),
		"SwitchingCapacity": float64(p.capacityGbps),
		"NetworkInterface.UplinkNetworkInterface.DataRate":   float64(p.gbps),
		"NetworkInterface.DownlinkNetworkInterface.DataRate": float64(p.gbps),
	}
	maps.Copy(v, more)
	d.component(document.TypeSwitch, name, switchModel, v)
}

// servers declares a server component with one NIC.
func (d *draft) servers(name, nic string, gbps int) {
	d.component(document.TypeServer, name, serverModel, nil, refTo(document.TypeNIC, nic, 1))
	d.component(document.TypeNIC, nic, nicModel, values{"NetworkInterface.UplinkNetworkInterface.DataRate": float64(gbps)})
}

func (d *draft) component(kind, name, model string, v values, members ...document.Ref) {
	p, version := d.parameters(model, v)
	d.doc.Components = append(d.doc.Components, document.Component{
		Type: kind, Model: model, Name: name, Version: version, TypedParameters: p, Components: members,
	})
}

func (d *draft) rack(name string, members ...document.Ref) {
	d.container(document.TypeRack, name, rackModel, members)
}

func (d *draft) pod(name string, members ...document.Ref) {
	d.container(document.TypePod, name, podModel, members)
}

func (d *draft) container(kind, name, model string, members []document.Ref) {
	_, version := d.parameters(model, nil)
	d.doc.Containers = append(d.doc.Containers, document.Container{
		Type: kind, Name: name, Model: model, Version: version, Components: members,
	})
}

func (d *draft) topology(tiers int, members ...document.Ref) {
	d.doc.Topology = document.Topology{Type: "clos", TopologyTiers: tiers, Components: members}
}

func (d *draft) globals(v values) {
	d.doc.GlobalParameters = d.tree("global parameters", catalogue.Globals(), v)
}

// parameters returns a model's parameters with some values set, and its latest
// version.
func (d *draft) parameters(model string, v values) (document.Params, string) {
	entry, known := catalogue.Find(model)
	if !known {
		d.fail(fmt.Errorf("model %s is not in the catalogue", model))
		return nil, ""
	}
	return d.tree(model, entry.Parameters, v), entry.Latest()
}

func (d *draft) tree(owner string, schema []catalogue.Parameter, v values) document.Params {
	schema = slices.Clone(schema)
	for path, value := range v {
		i := slices.IndexFunc(schema, func(p catalogue.Parameter) bool { return p.Path == path })
		if i < 0 {
			d.fail(fmt.Errorf("%s has no parameter %s", owner, path))
			continue
		}
		schema[i].Default.Value = value
	}
	p := document.Params{}
	catalogue.Fill(p, schema)
	return p
}

func (d *draft) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// refTo returns a reference to count instances of a declaration.
func refTo(kind, name string, count int) document.Ref {
	return document.Ref{Name: name, Type: kind, Count: count}
}
