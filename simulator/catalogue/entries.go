package catalogue

import "netsim/simulator/design"

// Entries returns the whole catalogue.
func Entries() []Entry {
	versions := []string{"1.0.0"}
	return []Entry{
		{Model: "chakra-workload-v1", Type: design.TypeApplication, TrafficType: design.TrafficChakra, Versions: versions, Parameters: chakraWorkload()},
		{Model: "clos-switch-v1", Type: design.TypeSwitch, Versions: versions, Parameters: closSwitch()},
		{Model: "ethernet-layer-v1", Type: design.TypeLayer, Versions: versions, Parameters: []Parameter{
			enum("Wiring", "round-robin", "full-mesh"),
			{Path: "LinksPerPair", Default: number("uint", 0, "")},
		}},
		{Model: "gpu-server-v1", Type: design.TypeServer, Versions: versions, Parameters: []Parameter{
			{Path: "LogicalGroupId", Default: number("uint", 0, "")},
		}},
		{Model: "gpu-v1", Type: "gpu", Versions: versions, Parameters: []Parameter{
			{Path: "ComputeScale", Default: number("double", 1, "")},
		}},
		{Model: "leaf-rack-v1", Type: design.TypeRack, Versions: versions},
		{Model: "pod-v1", Type: design.TypePod, Versions: versions},
		{Model: "roce-nic-v1", Type: design.TypeNIC, Versions: versions, Parameters: roceNIC()},
		{Model: "traffic-generator-v1", Type: design.TypeApplication, TrafficType: "non-coordinated", Versions: versions, Parameters: []Parameter{
			{Path: "MessageSize", Default: number("bytes", 16, "KB")},
			enum("TrafficPattern", "uniform-random", "permutation", "incast"),
			within("Load", number("double", 0.5, ""), number("double", 0, ""), number("double", 1, "")),
		}},
	}
}

func closSwitch() []Parameter {
	return []Parameter{
		{Path: "NumUpLinks", Default: number("uint", 64, "")},
		{Path: "NumDownLinks", Default: number("uint", 64, "")},
		{Path: "NumUpLinksPerSwitch", Default: number("uint", 0, "")},
		{Path: "SwitchingCapacity", Default: number("datarate", 51200, "Gbps")},
		enum("EcmpHashMethod", "crc32WithSalt", "crc32", "hashWithSalt", "hash"),
		enum("LoadBalancingMethod", "none", "flowlet", "spray"),
		within("LoadBalancingFlowlet.Gap", number("timeval", 100, "us"), number("timeval", 0, "s"), number("timeval", 2, "s")),
		{Path: "NetworkInterface.UplinkNetworkInterface.DataRate", Default: number("datarate", 400, "Gbps")},
		{Path: "NetworkInterface.DownlinkNetworkInterface.DataRate", Default: number("datarate", 400, "Gbps")},
		{Path: "NetworkInterface.TransmissionMedium.Delay", Default: number("timeval", 500, "ns")},
	}
}

func roceNIC() []Parameter {
	return []Parameter{
		{Path: "NumDownLinks", Default: number("uint", 1, ""), ReadOnly: true},
		{Path: "NetworkInterface.UplinkNetworkInterface.DataRate", Default: number("datarate", 400, "Gbps")},
		{Path: "NetworkInterface.TransmissionMedium.Delay", Default: number("timeval", 100, "ns")},
		within("Transport.MSS", number("bytes", 4096, "B"), number("bytes", 1, "B"), number("bytes", 9216, "B")),
		{Path: "Transport.HeaderSize", Default: number("bytes", 58, "B")},
	}
}

func chakraWorkload() []Parameter {
	const in = "ChakraConfiguration."
	return []Parameter{
		{Path: "LogicalGroupId", Default: number("uint", 0, "")},
		{Path: in + "NumOfChakraFiles", Default: number("uint", 0, ""), ReadOnly: true},
		{Path: in + "UseMapping", Default: truth(false)},
		{Path: in + "MappingFileName", Default: text("")},
		enum(in+"AllReduceAlgorithm", "ring", "halving-doubling"),
		enum(in+"AllGatherAlgorithm", "ring"),
		enum(in+"ReduceScatterAlgorithm", "ring", "halving"),
		enum(in+"BroadcastAlgorithm", "interleaved", "sequential"),
		enum(in+"AllToAllAlgorithm", "interleaved", "sequential"),
		enum(in+"ScatterAlgorithm", "direct"),
		{Path: in + "ProcessGroupSerialization", Default: truth(true)},
		{Path: in + "CommCollectiveSynchronization", Default: truth(true)},
		{Path: in + "AbortOnChakraWarning", Default: truth(false)},
		enum(in+"TraceFamily", "synthesized", "compiled", "collected"),
		{Path: in + "Scaling", Default: truth(false)},
		within(in+"ScalingFactor", number("double", 1, ""), number("double", 0, ""), number("double", 1, "")),
		within(in+"ScaleUpMaxPayloadSize", number("bytes", 4096, "B"), number("bytes", 1, "B"), number("bytes", 64, "MiB")),
		within(in+"ScaleUpHeaderSize", number("bytes", 24, "B"), number("bytes", 0, "B"), number("bytes", 64, "MiB")),
		{Path: in + "ScaleUpStatsEnabled", Default: truth(false)},
	}
}

// Globals are the global parameters of a configuration.
func Globals() []Parameter {
	const in = "SimulationParameters."
	return []Parameter{
		{Path: in + "StartTime", Default: number("timeval", 0, "s")},
		{Path: in + "WarmUp", Default: number("timeval", 0, "s")},
		{Path: in + "CoolDown", Default: number("timeval", 0, "s")},
		{Path: in + "RunTime", Default: number("timeval", 3600, "s")},
		{Path: in + "BeaconReportInterval", Default: number("double", 0.001, "")},
		{Path: in + "NDStatsReportInterval", Default: number("timeval", 1, "ms")},
		{Path: in + "RandomSeed", Default: number("uint", 1, "")},
		{Path: in + "Mtu", Default: number("bytes", 9216, "B")},
		enum("EngineParameters.Engine", "builtin", "remote"),
		{Path: "SoftwareVersion.Version", Default: text("1.0.0"), ReadOnly: true},
	}
}

func number(kind string, value float64, unit string) design.Leaf {
	return design.Leaf{Value: value, Type: kind, Unit: unit}
}

func text(value string) design.Leaf { return design.Leaf{Value: value, Type: "string"} }

func truth(value bool) design.Leaf { return design.Leaf{Value: value, Type: "bool"} }

// enum is a string parameter with its values, the default first.
func enum(path string, values ...string) Parameter {
	return Parameter{Path: path, Default: text(values[0]), Enum: values}
}

func within(path string, normal, lo, hi design.Leaf) Parameter {
	return Parameter{Path: path, Default: normal, Min: &lo, Max: &hi}
}
