package catalogue

import (
	"netsim/simulator/collective"
	"netsim/simulator/document"
)

// The headings under which parameters are displayed.
const (
	groupPorts       = "Ports"
	groupSwitching   = "Switching"
	groupBalancing   = "Load balancing"
	groupInterface   = "Network interface"
	groupTransport   = "Transport"
	groupPlacement   = "Placement"
	groupCompute     = "Compute"
	groupWiring      = "Wiring"
	groupCoordinator = "Coordinator"
	groupProfile     = "Model profile"
	groupPattern     = "Traffic pattern"
	groupScaleUp     = "Scale-up"
	groupTime        = "Time"
	groupReports     = "Reports"
	groupEngine      = "Engine"
)

// Paths that several models share.
const (
	pathUpRate    = "NetworkInterface.UplinkNetworkInterface.DataRate"
	pathDownRate  = "NetworkInterface.DownlinkNetworkInterface.DataRate"
	pathDelay     = "NetworkInterface.TransmissionMedium.Delay"
	pathLogicalID = "LogicalGroupId"
)

func closSwitch() []Parameter {
	return []Parameter{
		count("NumUpLinks", 64, 65536, groupPorts, "total number of links to the switches of the next tier"),
		count("NumDownLinks", 64, 65536, groupPorts, "number of downward links; validation compares it with the actual links, the engine ignores it"),
		count("NumUpLinksPerSwitch", 0, 65536, groupPorts, "number of links to each switch of the next tier, instead of NumUpLinks; 0 to deal NumUpLinks round-robin"),
		within("SwitchingCapacity", number("datarate", 51200, "Gbps"), number("datarate", 1, "Mbps"), number("datarate", 1000, "Tbps"),
			groupSwitching, "total rate at which the switch forwards; a limit if the rates of its ports add up to more"),
		enum("EcmpHashMethod", groupBalancing, "how a flow is assigned to one of several equal paths; without a salt all switches choose alike", "crc32WithSalt", "crc32", "hashWithSalt", "hash"),
		enum("LoadBalancingMethod", groupBalancing, "whether a flow keeps its path, changes it after a pause, or uses all paths at once", "none", "flowlet", "spray"),
		within("LoadBalancingFlowlet.Gap", number("timeval", 100, "us"), number("timeval", 0, "s"), number("timeval", 2, "s"),
			groupBalancing, "the pause after which a flow may change its path"),
		rate(pathUpRate, "rate of an upward port; a link has the lower rate of its two ends"),
		rate(pathDownRate, "rate of a downward port; a link has the lower rate of its two ends"),
		delay(500, "propagation delay of an upward link"),
	}
}

func nic() []Parameter {
	return []Parameter{
		readOnly(count("NumDownLinks", 1, 1, groupPorts, "ports of the interface")),
		rate(pathUpRate, "rate of the port; a link has the lower rate of its two ends"),
		delay(100, "propagation delay of the link to the rack switch"),
		within("Transport.MSS", number("bytes", 4096, "B"), number("bytes", 1, "B"), number("bytes", 9216, "B"), groupTransport, "largest payload of a packet"),
		within("Transport.HeaderSize", number("bytes", 58, "B"), number("bytes", 0, "B"), number("bytes", 9216, "B"), groupTransport, "headers of a packet, which the links carry too"),
	}
}

func gpu() []Parameter {
	return []Parameter{
		within("ComputeScale", number("double", 1, ""), number("double", 0.001, ""), number("double", 1000, ""), groupCompute, "factor on the computation times of a trace"),
	}
}

func gpuServer() []Parameter {
	return []Parameter{logicalGroup("group of the server; an application runs on servers of its own group")}
}

func ethernetLayer() []Parameter {
	return []Parameter{
		enum("Wiring", groupWiring, "whether the links of a fabric switch are dealt round-robin over the spine, or lead to every spine switch", "round-robin", "full-mesh"),
		count("LinksPerPair", 0, 65536, groupWiring, "links between two switches in a full mesh; 0 means 1"),
	}
}

func trafficGenerator() []Parameter {
	return []Parameter{
		within("MessageSize", number("bytes", 16, "KB"), number("bytes", 1, "B"), number("bytes", 1, "GB"), groupPattern, "payload of a message"),
		enum("TrafficPattern", groupPattern, "which server a client sends to: a random one, always the same one, or one that all clients share", "uniform-random", "permutation", "incast"),
		within("Load", number("double", 0.5, ""), number("double", 0, ""), number("double", 1, ""), groupPattern, "fraction of the interface's rate that a client offers"),
	}
}

func chakraWorkload() []Parameter {
	const in = document.InChakra
	return append(algorithms(),
		logicalGroup("the group of servers that the ranks run on"),
		readOnly(count(in+"NumOfChakraFiles", 0, 65536, groupCoordinator, "number of ranks of the attached traceset; set when it is attached")),
		flag(in+"UseMapping", false, groupCoordinator, "whether a mapping file places the ranks"),
		text(in+"MappingFileName", "", groupCoordinator, "name of the mapping file"),
		flag(in+"ProcessGroupSerialization", true, groupCoordinator, "whether the collectives of a process group run one after another"),
		flag(in+"CommCollectiveSynchronization", true, groupCoordinator, "whether a collective begins only when all its ranks have reached it"),
		optional(flag(in+"OneCommunicationPerRank", false, groupCoordinator, "whether the sends and collectives of a rank run one after another; may be left out")),
		flag(in+"AbortOnChakraWarning", false, groupCoordinator, "whether a warning about the traceset ends the run"),
		enum(in+"TraceFamily", groupProfile, "where the traceset comes from", "synthesized", "compiled", "collected"),
		flag(in+"Scaling", false, groupProfile, "whether ScalingFactor applies"),
		within(in+"ScalingFactor", number("double", 1, ""), number("double", 0, ""), number("double", 1, ""), groupProfile, "factor on the data sizes of the traceset"),
		within(in+"ScaleUpMaxPayloadSize", number("bytes", 4096, "B"), number("bytes", 1, "B"), number("bytes", 64, "MiB"), groupScaleUp, "largest payload of a packet inside a scale-up group"),
		within(in+"ScaleUpHeaderSize", number("bytes", 24, "B"), number("bytes", 0, "B"), number("bytes", 64, "MiB"), groupScaleUp, "headers of a packet inside a scale-up group"),
		flag(in+"ScaleUpStatsEnabled", false, groupScaleUp, "whether the results list scale-up interfaces"),
	)
}

// algorithms returns a parameter for the algorithm of each operation.
func algorithms() (parameters []Parameter) {
	for _, o := range collective.Matrix() {
		values := []string{collective.AlgorithmNamed(o.DefaultAlgorithm).Parameter}
		for _, name := range o.AllowedAlgorithms {
			if name != o.DefaultAlgorithm {
				values = append(values, collective.AlgorithmNamed(name).Parameter)
			}
		}
		parameters = append(parameters, enum(document.InChakra+document.AlgorithmParameter(o.OperationType), groupPattern,
			"algorithm of "+o.OperationType+" if the traceset gives none", values...))
	}
	return parameters
}

func globals() []Parameter {
	const in = "SimulationParameters."
	second := func(n float64) document.Leaf { return number("timeval", n, "s") }
	return []Parameter{
		within(in+"StartTime", second(0), second(0), second(86400), groupTime, "simulated time before the workload begins"),
		within(in+"WarmUp", second(0), second(0), second(86400), groupTime, "simulated time before the run time; traffic that starts in it is not recorded"),
		within(in+"CoolDown", second(0), second(0), second(86400), groupTime, "simulated time after the run time; no traffic starts in it"),
		within(in+"RunTime", second(3600), number("timeval", 1, "ns"), second(86400), groupTime, "longest simulated time; a simulation's duration replaces it"),
		within(in+"BeaconReportInterval", number("double", 0.001, ""), number("double", 0.000001, ""), number("double", 86400, ""), groupReports, "simulated seconds between rows of progress-cdf"),
		within(in+"NDStatsReportInterval", number("timeval", 1, "ms"), number("timeval", 1, "us"), second(86400), groupReports, "simulated time between rows of nd-stats and tier-hop"),
		within(in+"RandomSeed", number("uint", 1, ""), number("uint", 0, ""), number("uint", 1<<53-1, ""), groupEngine, "the same seed gives the same results"),
		within(in+"Mtu", number("bytes", 9216, "B"), number("bytes", 64, "B"), number("bytes", 65535, "B"), groupTransport, "largest packet of the network"),
		enum("EngineParameters.Engine", groupEngine, "engine that runs the simulation", "builtin", "remote"),
		readOnly(text("SoftwareVersion.Version", "1.0.0", groupEngine, "version of the software that made the configuration")),
	}
}

func number(kind string, value float64, unit string) document.Leaf {
	return document.Leaf{Value: value, Type: kind, Unit: unit}
}

func within(path string, defaultValue, lo, hi document.Leaf, group, description string) Parameter {
	return Parameter{Path: path, Default: defaultValue, Min: &lo, Max: &hi, Group: group, Description: description}
}

// count returns an unsigned integer parameter with values from 0 to most.
func count(path string, defaultValue, most float64, group, description string) Parameter {
	return within(path, number("uint", defaultValue, ""), number("uint", 0, ""), number("uint", most, ""), group, description)
}

// rate returns a parameter for the rate of a port. On the slowest port the largest
// transfer, 2^40 bytes (completions.md 4.1), takes fewer than 2^63 picoseconds.
func rate(path, description string) Parameter {
	return within(path, number("datarate", 400, "Gbps"), number("datarate", 1, "Mbps"), number("datarate", 10, "Tbps"), groupInterface, description)
}

func delay(nanoseconds float64, description string) Parameter {
	return within(pathDelay, number("timeval", nanoseconds, "ns"), number("timeval", 0, "s"), number("timeval", 1, "s"), groupInterface, description)
}

func logicalGroup(description string) Parameter {
	return count(pathLogicalID, 0, 65536, groupPlacement, description)
}

// enum returns a string parameter with its allowed values, the default first.
func enum(path, group, description string, values ...string) Parameter {
	p := text(path, values[0], group, description)
	p.Enum = values
	return p
}

func text(path, defaultValue, group, description string) Parameter {
	return Parameter{Path: path, Default: document.Leaf{Value: defaultValue, Type: "string"}, Group: group, Description: description}
}

func flag(path string, defaultValue bool, group, description string) Parameter {
	return Parameter{Path: path, Default: document.Leaf{Value: defaultValue, Type: "bool"}, Group: group, Description: description}
}

func optional(p Parameter) Parameter {
	p.Optional = true
	return p
}

func readOnly(p Parameter) Parameter {
	p.ReadOnly = true
	return p
}
