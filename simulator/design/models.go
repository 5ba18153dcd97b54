package design

import "netsim/simulator/topology"

// The models that a derived configuration is made of, completions.md 2.4.
const (
	switchModel      = "clos-switch-v1"
	nicModel         = "roce-nic-v1"
	serverModel      = "gpu-server-v1"
	rackModel        = "leaf-rack-v1"
	podModel         = "pod-v1"
	applicationModel = "chakra-workload-v1"
	modelVersion     = "1.0.0"
)

// Paths of the parameters that are both written and read here.
const (
	pathUpLinks      = "NumUpLinks"
	pathDownLinks    = "NumDownLinks"
	pathPerUpper     = "NumUpLinksPerSwitch"
	pathCapacity     = "SwitchingCapacity"
	pathHashMethod   = "EcmpHashMethod"
	pathBalancing    = "LoadBalancingMethod"
	pathFlowletGap   = "LoadBalancingFlowlet.Gap"
	pathUpRate       = "NetworkInterface.UplinkNetworkInterface.DataRate"
	pathDownRate     = "NetworkInterface.DownlinkNetworkInterface.DataRate"
	pathDelay        = "NetworkInterface.TransmissionMedium.Delay"
	pathMSS          = "Transport.MSS"
	pathHeader       = "Transport.HeaderSize"
	pathLogicalGroup = "LogicalGroupId"
)

// switchOf is a switch of a derived tier: equal rates both ways.
func switchOf(name string, up, down int, r topology.Resolved) Component {
	p := Params{}
	p.set(pathUpLinks, uintOf(up))
	p.set(pathDownLinks, uintOf(down))
	p.set(pathPerUpper, uintOf(0))
	p.set(pathCapacity, amount(r.SwitchingCapacityGbps, "datarate", "Gbps"))
	p.set(pathHashMethod, textOf("crc32WithSalt"))
	p.set(pathBalancing, textOf("none"))
	p.set(pathFlowletGap, amount(100, "timeval", "us"))
	p.set(pathUpRate, amount(r.SwitchLinkSpeed, "datarate", "Gbps"))
	p.set(pathDownRate, amount(r.SwitchLinkSpeed, "datarate", "Gbps"))
	p.set(pathDelay, amount(topology.SwitchDelay/1000, "timeval", "ns"))
	return component(TypeSwitch, name, switchModel, p)
}

func nicOf(name string, gbps int) Component {
	p := Params{}
	p.set(pathDownLinks, uintOf(1))
	p.set(pathUpRate, amount(gbps, "datarate", "Gbps"))
	p.set(pathDelay, amount(topology.NICDelay/1000, "timeval", "ns"))
	p.set(pathMSS, amount(4096, "bytes", "B"))
	p.set(pathHeader, amount(58, "bytes", "B"))
	return component(TypeNIC, name, nicModel, p)
}

func serverOf(name, nic string) Component {
	p := Params{}
	p.set(pathLogicalGroup, uintOf(0))
	c := component(TypeServer, name, serverModel, p)
	c.Components = []Ref{reference(TypeNIC, nic, nicModel, 1)}
	return c
}

func component(kind, name, model string, p Params) Component {
	return Component{
		Type: kind, Model: model, Name: name, Version: modelVersion, TypedParameters: p,
		AllowedComponents: Allowed(kind), Components: []Ref{},
	}
}

func container(kind, name, model string, refs ...Ref) Container {
	return Container{
		Type: kind, Name: name, Model: model, Version: modelVersion,
		AllowedComponents: Allowed(kind), Components: refs,
	}
}

func reference(kind, name, model string, count int) Ref {
	return Ref{Name: name, Type: kind, Count: count, Model: model, Version: modelVersion}
}

// globalParameters are the defaults of completions.md 3.3.
func globalParameters() Params {
	p := Params{}
	p.set("SimulationParameters.StartTime", amount(0, "timeval", "s"))
	p.set("SimulationParameters.WarmUp", amount(0, "timeval", "s"))
	p.set("SimulationParameters.CoolDown", amount(0, "timeval", "s"))
	p.set("SimulationParameters.RunTime", amount(3600, "timeval", "s"))
	p.set("SimulationParameters.BeaconReportInterval", doubleOf(0.001))
	p.set("SimulationParameters.NDStatsReportInterval", amount(1, "timeval", "ms"))
	p.set("SimulationParameters.RandomSeed", uintOf(1))
	p.set("SimulationParameters.Mtu", amount(9216, "bytes", "B"))
	p.set("EngineParameters.Engine", textOf("builtin"))
	p.set("SoftwareVersion.Version", textOf(modelVersion))
	return p
}
