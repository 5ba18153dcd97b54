// Package document defines the document of a configuration and its canonical text. It reads
// and edits documents, and derives the fabric and the engine's options from them.
//
// It is pure. Sources: completions.md sections 2.4 (models), 3.2 (document,
// wiring), 3.3 (global parameters).
package document

import (
	"encoding/json"
	"fmt"
)

// The types of components, containers and references.
const (
	TypeSwitch      = "switch"
	TypeNIC         = "nic"
	TypeGPU         = "gpu"
	TypeServer      = "server"
	TypeRack        = "rack"
	TypePod         = "pod"
	TypeLayer       = "layer"
	TypeApplication = "application"
)

// TrafficChakra is the traffic type of an application that replays traces.
const TrafficChakra = "chakra"

// HolderTopology is the holder type of the topology. Any other holder has the type of its
// declaration.
const HolderTopology = "topology"

// Allowed returns the types that a holder may hold, in the order of completions.md 3.2.
// It returns an empty slice, not nil, for types that hold nothing.
func Allowed(holder string) []string {
	switch holder {
	case HolderTopology:
		return []string{TypeSwitch, TypeLayer, TypePod, TypeRack}
	case TypePod:
		return []string{TypeSwitch, TypeRack}
	case TypeRack:
		return []string{TypeSwitch, TypeServer}
	case TypeServer:
		return []string{TypeNIC, TypeGPU, TypeApplication}
	}
	return []string{}
}

// Document is a configuration version's content: the configuration without its
// id, name, status and attachments.
type Document struct {
	Applications     []Application `json:"applications"`
	Components       []Component   `json:"components"`
	Containers       []Container   `json:"containers"`
	Links            []Component   `json:"links"` // of type layer
	Topology         Topology      `json:"topology"`
	GlobalParameters Params        `json:"globalParameters"`
}

// Component is a switch, a NIC, a GPU, a server or a layer. Only a server holds
// other components.
type Component struct {
	Type              string   `json:"type"`
	TrafficType       string   `json:"trafficType,omitempty"`
	Model             string   `json:"model"`
	Name              string   `json:"name"`
	Version           string   `json:"version"`
	TypedParameters   Params   `json:"typedParameters"`
	AllowedComponents []string `json:"allowedComponents"`
	Components        []Ref    `json:"components"`
}

// Container is a rack or a pod.
type Container struct {
	Type              string   `json:"type"`
	Name              string   `json:"name"`
	Model             string   `json:"model"`
	Version           string   `json:"version"`
	Configuration     any      `json:"configuration"` // reserved, null
	AllowedComponents []string `json:"allowedComponents"`
	Components        []Ref    `json:"components"`
}

// Application is a load on the network.
type Application struct {
	Type            string `json:"type"`
	TrafficType     string `json:"trafficType"`
	Name            string `json:"name"`
	Model           string `json:"model"`
	Version         string `json:"version"`
	TypedParameters Params `json:"typedParameters"`
}

// Ref places Count instances of a declaration in a holder.
type Ref struct {
	Name                  string `json:"name"`
	Type                  string `json:"type"`
	Count                 int    `json:"count"`
	Group                 string `json:"group,omitempty"`
	Model                 string `json:"model,omitempty"`
	Version               string `json:"version,omitempty"`
	ParentApplicationName string `json:"parentApplicationName,omitempty"`
}

// Topology is the top level of the network.
type Topology struct {
	Name              string           `json:"name,omitempty"`
	Type              string           `json:"type"` // clos
	TopologyTiers     int              `json:"topologyTiers"`
	AllowedComponents []string         `json:"allowedComponents"`
	Components        []Ref            `json:"components"`
	AppDistribution   *AppDistribution `json:"appDistribution,omitempty"`
}

// AppDistribution distributes uncoordinated applications over servers.
type AppDistribution struct {
	Description string  `json:"description,omitempty"`
	Entries     []Entry `json:"randomApplicationDistribution"`
}

// Entry is one application's share of a distribution.
type Entry struct {
	Name                string  `json:"name"`
	ParentApplication   string  `json:"parentApplication"`
	ApplicationType     string  `json:"applicationType"` // client or server
	DistributionPercent Percent `json:"distributionPercent"`
}

// Percent is a fraction from 0 to 1.
type Percent struct {
	DistributionID string  `json:"distributionId"`
	Value          float64 `json:"value"`
}

// Parse reads a document from its JSON text.
func Parse(text string) (*Document, error) {
	d := new(Document)
	if err := json.Unmarshal([]byte(text), d); err != nil {
		return nil, fmt.Errorf("read the configuration's document: %w", err)
	}
	return d, nil
}

// ComponentCount returns the number of declared components, reachable or not.
func (d *Document) ComponentCount() int { return len(d.Components) }
