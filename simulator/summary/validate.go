package summary

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// Validated is the result of validating a topology that a client is drawing.
type Validated struct {
	Findings []validation.Finding
	Summary  *Summary // nil if the network cannot be unfolded
	Map      string   // only if no finding is an error
	Checksum string   // sha256:<hex> of the canonical text of what was sent
}

// Validate validates, without a traceset, the members of a configuration that define
// its network. body is JSON that was decoded into an any. Every error is the client's;
// its text is the message of a 400.
func Validate(body any) (Validated, error) {
	if err := validation.CheckParamTrees(body); err != nil {
		return Validated{}, err
	}
	text := document.CanonicalTree(body)
	sum := sha256.Sum256([]byte(text))
	v := Validated{Checksum: "sha256:" + hex.EncodeToString(sum[:])}
	var sent struct {
		document.Document
		Topology *document.Topology `json:"topology"`
	}
	if err := json.Unmarshal([]byte(text), &sent); err != nil {
		return v, fmt.Errorf("the topology cannot be read: %w", err)
	}
	d := &sent.Document
	if sent.Topology == nil {
		d.Topology = defaultTopology(d)
	} else {
		d.Topology = *sent.Topology
	}
	if err := validation.Complete(d); err != nil {
		return v, err
	}
	findings, fabric := validation.Survey(d, validation.Attachments{})
	v.Findings = slices.DeleteFunc(findings, needsAttachment)
	if fabric == nil {
		return v, nil
	}
	summary := Of(d, fabric)
	v.Summary = &summary
	if slices.ContainsFunc(v.Findings, func(f validation.Finding) bool { return f.Severity == validation.Error }) {
		return v, nil
	}
	var err error
	v.Map, err = summary.Map()
	return v, err
}

// needsAttachment reports whether a finding can be resolved only by attaching a traceset or
// a mapping file. Neither can be attached to a topology.
func needsAttachment(f validation.Finding) bool {
	return f.Code == "TRACESET_REQUIRED" || f.Parameter == validation.ParameterUseMapping
}

// defaultTopology returns a topology with each switch, layer and container that no
// container holds.
func defaultTopology(d *document.Document) document.Topology {
	held := map[string]bool{}
	for i := range d.Containers {
		for _, ref := range d.Containers[i].Components {
			held[ref.Name] = true
		}
	}
	t := document.Topology{Type: "clos"}
	racks, pods := 0, 0
	add := func(name, kind string) {
		if !held[name] {
			t.Components = append(t.Components, document.Ref{Name: name, Type: kind, Count: 1})
		}
	}
	for i := range d.Components {
		if c := &d.Components[i]; c.Type == document.TypeSwitch {
			add(c.Name, c.Type)
		}
	}
	spine := len(t.Components)
	for i := range d.Links {
		add(d.Links[i].Name, document.TypeLayer)
	}
	for i := range d.Containers {
		c := &d.Containers[i]
		add(c.Name, c.Type)
		switch {
		case held[c.Name]:
		case c.Type == document.TypePod:
			pods++
		default:
			racks++
		}
	}
	switch {
	case pods > 1 || pods == 1 && spine > 0:
		t.TopologyTiers = 3
	case pods == 1 || spine > 0 || racks > 1:
		t.TopologyTiers = 2
	default:
		t.TopologyTiers = 1
	}
	return t
}
