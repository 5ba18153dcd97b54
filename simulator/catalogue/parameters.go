package catalogue

import (
	"netsim/simulator/collective"
	"netsim/simulator/design"
)

// Groups under which people look for parameters.
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
		count("NumUpLinks", 64, 65536, groupPorts, "links to the switches of the next tier, in all"),
		count("NumDownLinks", 64, 65536, groupPorts, "links to what is below; only compared with the links that there are"),
		count("NumUpLinksPerSwitch", 0, 65536, groupPorts, "links to every switch of the next tier instead of NumUpLinks; 0 to deal NumUpLinks in turn"),
		within("SwitchingCapacity", number("datarate", 51200, "Gbps"), number("datarate", 1, "Mbps"), number("datarate", 1000, "Tbps"),
			groupSwitching, "what the switch forwards in all; a bound when its ports could bring it more"),
		enum("EcmpHashMethod", groupBalancing, "how a flow is given one of several equal paths; without a salt all switches choose alike", "crc32WithSalt", "crc32", "hashWithSalt", "hash"),
		enum("LoadBalancingMethod", groupBalancing, "whether a flow keeps its path, changes it after a pause, or uses all paths at once", "none", "flowlet", "spray"),
		within("LoadBalancingFlowlet.Gap", number("timeval", 100, "us"), number("timeval", 0, "s"), number("timeval", 2, "s"),
			groupBalancing, "the pause after which a flow may change its path"),
		rate(pathUpRate, "rate of a port upwards; a link has the lower rate of its two ends"),
		rate(pathDownRate, "rate of a port downwards; a link has the lower rate of its two ends"),
		delay(500, "propagation delay of a link upwards"),
	}
}

func roceNIC() []Parameter {
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
	return []Parameter{logicalGroup("the group of servers that applications of the same number run on")}
}

func ethernetLayer() []Parameter {
	return []Parameter{
		enum("Wiring", groupWiring, "whether a fabric switch's links are dealt over the spine in turn, or it has links to all of it", "round-robin", "full-mesh"),
		count("LinksPerPair", 0, 65536, groupWiring, "links of a full mesh between two switches; 0 for one"),
	}
}

func trafficGenerator() []Parameter {
	return []Parameter{
		within("MessageSize", number("bytes", 16, "KB"), number("bytes", 1, "B"), number("bytes", 1, "GB"), groupPattern, "payload of a message"),
		enum("TrafficPattern", groupPattern, "which server a client sends to: any, always its own, or all the same one", "uniform-random", "permutation", "incast"),
		within("Load", number("double", 0.5, ""), number("double", 0, ""), number("double", 1, ""), groupPattern, "fraction of the interface's rate that a client offers"),
	}
}

func chakraWorkload() []Parameter {
	const in = design.InChakra
	return append(algorithms(),
		logicalGroup("the group of servers that the ranks run on"),
		readOnly(count(in+"NumOfChakraFiles", 0, 65536, groupCoordinator, "ranks of the attached traceset, set when it is attached")),
		flag(in+"UseMapping", false, groupCoordinator, "whether a mapping file places the ranks"),
		text(in+"MappingFileName", "", groupCoordinator, "name of the mapping file"),
		flag(in+"ProcessGroupSerialization", true, groupCoordinator, "whether the collectives of a process group run one after another"),
		flag(in+"CommCollectiveSynchronization", true, groupCoordinator, "whether a collective begins when all its ranks are there"),
		optional(flag(in+"OneCommunicationPerRank", false, groupCoordinator, "whether the sends and collectives of a rank run one after another; may be left out")),
		flag(in+"AbortOnChakraWarning", false, groupCoordinator, "whether a doubt about the traceset ends the run"),
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
		parameters = append(parameters, enum(design.InChakra+design.AlgorithmParameter(o.OperationType), groupPattern,
			"algorithm of "+o.OperationType+", where the traceset gives none", values...))
	}
	return parameters
}

func globals() []Parameter {
	const in = "SimulationParameters."
	second := func(n float64) design.Leaf { return number("timeval", n, "s") }
	return []Parameter{
		within(in+"StartTime", second(0), second(0), second(86400), groupTime, "simulated time before the workload begins"),
		within(in+"WarmUp", second(0), second(0), second(86400), groupTime, "simulated time before the run time; traffic that starts in it is not recorded"),
		within(in+"CoolDown", second(0), second(0), second(86400), groupTime, "simulated time after the run time; no traffic starts in it"),
		within(in+"RunTime", second(3600), number("timeval", 1, "ns"), second(86400), groupTime, "longest simulated time; a simulation's duration replaces it"),
		within(in+"BeaconReportInterval", number("double", 0.001, ""), number("double", 0.000001, ""), number("double", 86400, ""), groupReports, "simulated seconds between rows of progress-cdf"),
		within(in+"NDStatsReportInterval", number("timeval", 1, "ms"), number("timeval", 1, "us"), second(86400), groupReports, "simulated time between rows of nd-stats and tier-hop"),
		within(in+"RandomSeed", number("uint", 1, ""), number("uint", 0, ""), number("uint", 1<<53-1, ""), groupEngine, "the same seed gives the same results"),
		within(in+"Mtu", number("bytes", 9216, "B"), number("bytes", 64, "B"), number("bytes", 65535, "B"), groupTransport, "largest packet of the network"),
		enum("EngineParameters.Engine", groupEngine, "what runs the simulation", "builtin", "remote"),
		readOnly(text("SoftwareVersion.Version", "1.0.0", groupEngine, "version of the software that made the configuration")),
	}
}

func number(kind string, value float64, unit string) design.Leaf {
	return design.Leaf{Value: value, Type: kind, Unit: unit}
}

func within(path string, normal, lo, hi design.Leaf, group, description string) Parameter {
	return Parameter{Path: path, Default: normal, Min: &lo, Max: &hi, Group: group, Description: description}
}

// count is a number of things from 0 on.
func count(path string, normal, most float64, group, description string) Parameter {
	return within(path, number("uint", normal, ""), number("uint", 0, ""), number("uint", most, ""), group, description)
}

// rate is the rate of a port. On the slowest port the largest transfer, 2^40 bytes
// (completions.md 4.1), takes fewer than 2^63 picoseconds.
func rate(path, description string) Parameter {
	return within(path, number("datarate", 400, "Gbps"), number("datarate", 1, "Mbps"), number("datarate", 10, "Tbps"), groupInterface, description)
}

func delay(nanoseconds float64, description string) Parameter {
	return within(pathDelay, number("timeval", nanoseconds, "ns"), number("timeval", 0, "s"), number("timeval", 1, "s"), groupInterface, description)
}

func logicalGroup(description string) Parameter {
	return count(pathLogicalID, 0, 65536, groupPlacement, description)
}

// enum is a string parameter with its values, the default first.
func enum(path, group, description string, values ...string) Parameter {
	p := text(path, values[0], group, description)
	p.Enum = values
	return p
}

func text(path, normal, group, description string) Parameter {
	return Parameter{Path: path, Default: design.Leaf{Value: normal, Type: "string"}, Group: group, Description: description}
}

func flag(path string, normal bool, group, description string) Parameter {
	return Parameter{Path: path, Default: design.Leaf{Value: normal, Type: "bool"}, Group: group, Description: description}
}

func optional(p Parameter) Parameter {
	p.Optional = true
	return p
}

func readOnly(p Parameter) Parameter {
	p.ReadOnly = true
	return p
}
