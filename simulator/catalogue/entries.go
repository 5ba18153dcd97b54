package catalogue

import (
	"time"

	"netsim/simulator/document"
)

// entries returns the models. An id is never reused for another model, and a released
// version never changes.
func entries() []Entry {
	return []Entry{
		{
			ID: "model_0000000000e008000000000001", Model: "traffic-generator-v1", Name: "Traffic generator",
			Type: document.TypeApplication, TrafficType: TrafficNonCoordinated,
			Description: "Clients that send messages to servers without waiting for each other, spread by the topology's distribution.",
			Versions:    first(), Parameters: trafficGenerator(),
		},
		{
			ID: "model_0000000000e008000000000002", Model: "roce-nic-v1", Name: "RoCE NIC", Type: document.TypeNIC,
			Description: "A network interface of a server with one link to every switch of its rack. Switches pause ports that send too much, and drop nothing.",
			Versions:    first(), Parameters: nic(),
		},
		{
			ID: "model_0000000000e008000000000003", Model: "pod-v1", Name: "Pod", Type: document.TypePod,
			Description: "Racks below a tier of fabric switches (FSW).",
			Versions:    first(),
		},
		{
			ID: "model_0000000000e008000000000004", Model: "leaf-rack-v1", Name: "Leaf rack", Type: document.TypeRack,
			Description: "Servers below a rack switch (RSW).",
			Versions:    first(),
		},
		{
			ID: "model_0000000000e008000000000005", Model: "gpu-v1", Name: "GPU", Type: document.TypeGPU,
			Description: "An accelerator of a server.",
			Versions:    first(), Parameters: gpu(),
		},
		{
			ID: "model_0000000000e008000000000006", Model: "gpu-server-v1", Name: "GPU server", Type: document.TypeServer,
			Description: "A host that holds NICs and GPUs and runs one rank.",
			Versions:    first(), Parameters: gpuServer(),
		},
		{
			ID: "model_0000000000e008000000000007", Model: "ethernet-layer-v1", Name: "Ethernet layer", Type: document.TypeLayer,
			Description: "How the fabric switches of the pods are wired to the spine (SSW).",
			Versions:    first(), Parameters: ethernetLayer(),
		},
		{
			ID: "model_0000000000e008000000000008", Model: "clos-switch-v1", Name: "Clos switch", Type: document.TypeSwitch,
			Description: "A switch of any tier of a Clos network: RSW in a rack, FSW in a pod, SSW in the topology.",
			Versions:    first(), Parameters: closSwitch(),
		},
		{
			ID: "model_0000000000e008000000000009", Model: "chakra-workload-v1", Name: "Chakra workload",
			Type: document.TypeApplication, TrafficType: document.TrafficChakra,
			Description: "Ranks that replay the operations of a traceset, one rank on each server.",
			Versions:    first(), Parameters: chakraWorkload(),
		},
		{
			ID: "model_0000000000e00800000000000a", Model: "trimming-nic-v1", Name: "Trimming NIC", Type: document.TypeNIC,
			Description: "Like the RoCE NIC, but switches cut packets that they cannot queue to headers, and receivers pull these packets again, as in NDP.",
			Versions:    from("1.10.0", 25), Parameters: nic(),
		},
		{
			ID: "model_0000000000e00800000000000b", Model: "ideal-nic-v1", Name: "Ideal NIC", Type: document.TypeNIC,
			Description: "Like the RoCE NIC, but links are shared max-min fairly, without queues, pauses and loss: a bound for any transport.",
			Versions:    from("1.10.0", 25), Parameters: nic(),
		},
	}
}

// TrafficNonCoordinated is the traffic type of an application whose senders do
// not wait for each other.
const TrafficNonCoordinated = "non-coordinated"

// first returns the versions of a model that has only its first version.
func first() []Version { return from("1.0.0", 21) }

// from returns the first version of a model that engines have from this version on, since a
// day in November 2026.
func from(engine string, day int) []Version {
	return []Version{{
		Number: "1.0.0", Status: Stable, Compatibility: &Compatibility{MinEngine: engine},
		CreatedAt: time.Date(2026, time.November, day, 0, 0, 0, 0, time.UTC),
		Notes:     "first version",
	}}
}
